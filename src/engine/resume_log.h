#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint.h"
#include "output/transcript.h"

namespace sotto {

// Where a transcription stands after a window: enough to go on as if it had never stopped.
struct ResumePoint {
  size_t position = 0;  // mel frame (sequential) or chunk (batched) that comes next
  std::vector<TokenId> context;
  TokenId language = -1;
  std::string language_code;
  double language_probability = 0;
  int windows_heard = 0;  // for the language
  double last_speech_end = 0;
  std::vector<Segment> segments;  // that the last window added
};

// What tells one input from another: the absolute path, size and time of a file; empty for a stream.
std::string input_identity(const std::string& path);

// A file that grows by a line per window, so that work survives a kill at any moment: a line that was cut off
// is as if it had not been written.
class ResumeLog {
 public:
  // `fingerprint` says what is being transcribed and how; a log of something else is not continued.
  ResumeLog(std::filesystem::path path, std::string fingerprint, bool resume);

  // What an earlier run left: the segments of all its windows, and the state after the last.
  const std::optional<ResumePoint>& found() const noexcept { return found_; }

  void record(const ResumePoint& point);
  void remove() noexcept;  // the transcription is complete

 private:
  void load();

  std::filesystem::path path_;
  std::string fingerprint_;
  std::optional<ResumePoint> found_;
  std::vector<std::string> kept_lines_;
  std::ofstream file_;
};

}  // namespace sotto
