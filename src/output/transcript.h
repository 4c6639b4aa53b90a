#pragma once

#include <string>
#include <vector>

namespace sotto {

struct Segment {
  int id = 0;
  double start = 0;  // seconds on the time line of the input
  double end = 0;
  std::string text;  // as decoded, with its leading space
  std::vector<int> tokens;
  double temperature = 0;
  double average_log_probability = 0;
  double compression_ratio = 0;
  double no_speech_probability = 0;
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
  std::string model;         // name of the model
  std::string device;        // for people
  std::string compute_type;
  std::vector<Segment> segments;
  std::vector<AudioNote> damage;
  bool complete = true;      // false when it was stopped before the end
};

}  // namespace sotto
