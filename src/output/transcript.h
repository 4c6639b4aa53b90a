#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sotto {

struct Word {
  std::string text;  // as decoded, with its leading space
  double start = 0;
  double end = 0;
  double probability = 0;
};

// How far a segment can be relied on.
struct Trust {
  double language_probability = 0;
  int attempts = 1;  // decodings until the text was taken; more than 1: the first ones were not good enough
  double uncovered_speech = 0;  // seconds of speech before this segment that no text covers
  std::string suspect;          // why not to rely on it; empty: nothing is known against it
};

struct Segment {
  int id = 0;
  double start = 0;  // seconds on the time line of the input
  double end = 0;
  std::string text;  // as decoded, with its leading space
  std::vector<int> tokens;
  std::vector<Word> words;  // where they were asked for
  std::string language;     // code
  double temperature = 0;
  double average_log_probability = 0;
  double compression_ratio = 0;
  double no_speech_probability = 0;
  Trust trust;
};

struct AudioNote {
  double start = 0;
  double end = 0;
  std::string text;  // what was damaged there
};

struct Transcript {
  std::string file;
  double duration = 0;  // seconds of audio read
  std::string language;
  double language_probability = 0;
  std::string task;
  std::string model;       // name of the model
  std::string model_hash;  // of its files
  std::string device;      // for people
  std::string compute_type;
  std::vector<std::pair<std::string, std::string>>
      device_record;    // name and value: kind, architecture, driver, why
  std::string version;  // of the program that made it
  std::vector<std::pair<std::string, std::string>> options;  // name and value of those it was made with
  std::vector<Segment> segments;
  std::vector<AudioNote> damage;
  bool complete = true;  // false when it was stopped before the end
};

}  // namespace sotto
