#pragma once

#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output/writers.h"

namespace sotto {

inline std::string written(std::string_view format, const Transcript& transcript,
                           const LineRules& rules = {}) {
  std::ostringstream out;
  find_writer(format)->write(out, transcript, rules);
  return out.str();
}

inline Transcript transcript_of(std::string text, double start = 0, double end = 1) {
  Transcript transcript;
  transcript.segments.push_back({.id = 0, .start = start, .end = end, .text = std::move(text)});
  return transcript;
}

// The words of a text share the time evenly; each has the space before it, as decoded.
inline std::vector<Word> even_words(std::string_view text, double start, double end) {
  std::vector<Word> words;
  for (size_t i = 0; i < text.size(); ++i) {
    if (words.empty() || text[i] == ' ') words.emplace_back();
    words.back().text += text[i];
  }
  const double each = (end - start) / static_cast<double>(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    words[i].start = start + each * static_cast<double>(i);
    words[i].end = words[i].start + each;
    words[i].probability = 0.75;
  }
  return words;
}

// The transcript of the golden files: what is ordinary first, then everything that a format could stumble
// over.
inline Transcript sample_transcript() {
  Transcript transcript;
  transcript.file = "talks/Zoë's \"talk\".flac";
  transcript.duration = 360012.3456;
  transcript.language = "en";
  transcript.language_probability = 0.984375;
  transcript.task = "transcribe";
  transcript.model = "nano";
  transcript.model_hash = "sha256:0123abcd";
  transcript.device = "CPU (2 threads, AVX2)";
  transcript.compute_type = "float32";
  transcript.version = "0.1.0";
  transcript.options = {{"beam-size", "5"}, {"initial-prompt", "Say \"sun\""}};
  const auto add = [&](double start, double end, std::string text, std::vector<int> tokens = {}) -> Segment& {
    transcript.segments.push_back({.id = static_cast<int>(transcript.segments.size()),
                                   .start = start,
                                   .end = end,
                                   .text = std::move(text),
                                   .tokens = std::move(tokens),
                                   .language = "en",
                                   .average_log_probability = -0.5,
                                   .compression_ratio = 1.25,
                                   .no_speech_probability = 0.125});
    return transcript.segments.back();
  };
  add(0.4, 5.1, " We are creatures of the sun, we men and women.", {403, 389, 13});
  transcript.segments.back().words = even_words(transcript.segments.back().text, 0.4, 5.1);
  transcript.segments.back().trust = {.language_probability = 0.984375};
  add(5.1, 5.1, " A segment that lasts no time.", {403}).temperature = 0.2;
  add(7.5, 7.25, " It ends before it starts.", {403});
  add(-0.01, 8, " It starts before the recording.", {403});
  add(9, 10, "  ", {220});
  add(10.0004, 11.9996, " Tom & Jerry: 1 < 2 --> \"3\" ---> 4");
  Segment& doubtful = add(20, 32,
                          " The quick brown fox jumps over the lazy dog. Then, after a rest, it goes home,"
                          " and nobody knows whether it will ever come back to the river again.");
  doubtful.trust = {0.5, 3, 4.25, "the model is unsure of the text"};
  add(40, 42, " {\\an8} C:\\New [1] }");
  add(45, 46, "[00:12.50] said the clock");
  add(3599.9996, 3661.5, " Two\n\nlines,\r\na\ttab, a bell\a and \u2028 more");
  add(360000, 360001.25, " naïve café 日本語 ♪");
  add(360002, 360003, " cut \xE2\x82").average_log_probability = std::numeric_limits<double>::quiet_NaN();
  transcript.damage = {{100.5, 101, "invalid data in the audio stream"}};
  transcript.complete = false;
  return transcript;
}

}  // namespace sotto
