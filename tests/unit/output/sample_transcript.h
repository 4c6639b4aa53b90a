#pragma once

#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "output/writers.h"

namespace sotto {

inline std::string written(std::string_view format, const Transcript& transcript) {
  std::ostringstream out;
  find_writer(format)->write(out, transcript);
  return out.str();
}

inline Transcript transcript_of(std::string text, double start = 0, double end = 1) {
  Transcript transcript;
  transcript.segments.push_back({.id = 0, .start = start, .end = end, .text = std::move(text)});
  return transcript;
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
  transcript.device = "CPU (2 threads, AVX2)";
  transcript.compute_type = "float32";
  transcript.version = "0.1.0";
  const auto add = [&](double start, double end, std::string text, std::vector<int> tokens = {}) -> Segment& {
    transcript.segments.push_back({.id = static_cast<int>(transcript.segments.size()),
                                   .start = start,
                                   .end = end,
                                   .text = std::move(text),
                                   .tokens = std::move(tokens),
                                   .average_log_probability = -0.5,
                                   .compression_ratio = 1.25,
                                   .no_speech_probability = 0.125});
    return transcript.segments.back();
  };
  add(0.4, 5.1, " We are creatures of the sun, we men and women.", {403, 389, 13});
  add(5.1, 5.1, " A segment that lasts no time.", {403}).temperature = 0.2;
  add(7.5, 7.25, " It ends before it starts.", {403});
  add(-0.01, 8, " It starts before the recording.", {403});
  add(9, 10, "  ", {220});
  add(10.0004, 11.9996, " Tom & Jerry: 1 < 2 --> \"3\" ---> 4");
  add(3599.9996, 3661.5, " Two\n\nlines,\r\na\ttab, a bell\a and \u2028 more");
  add(360000, 360001.25, " naïve café 日本語 ♪");
  add(360002, 360003, " cut \xE2\x82").average_log_probability = std::numeric_limits<double>::quiet_NaN();
  transcript.damage = {{100.5, 101, "invalid data in the audio stream"}};
  transcript.complete = false;
  return transcript;
}

}  // namespace sotto
