#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.h"

namespace sotto::cli {

struct ProgressState {
  std::string label;
  double done = 0;     // seconds of audio
  double total = -1;   // negative: unknown
  double earlier = 0;  // part of `done` that an earlier run did
  double elapsed = 0;  // seconds of work

  std::optional<double> fraction() const;  // 0 to 1
  std::optional<double> speed() const;     // times real time
  std::optional<double> seconds_left() const;
};

std::string clock_text(double seconds);                                            // 1:05, 2:03:04
std::string progress_line(const ProgressState& state);                             // for a log file
std::string progress_bar(const ProgressState& state, size_t width, bool colours);  // for a terminal

// How far several files are, taken together.
class OverallProgress {
 public:
  explicit OverallProgress(size_t files) : files_(files) {}

  void begin(size_t file, bool resumes) { files_[file].resumes = resumes; }
  void advance(size_t file, double done, double total);
  void finish(size_t file);

  size_t finished() const noexcept { return finished_; }
  size_t count() const noexcept { return files_.size(); }
  double done() const noexcept { return done_; }
  double earlier() const noexcept { return earlier_; }
  // Files that have not begun are taken to be as long as the others on average; negative: cannot be told.
  double total() const;

 private:
  struct File {
    double done = 0;
    double total = -1;
    bool begun = false;
    bool resumes = false;  // and has not yet said where the earlier run stopped
  };

  std::vector<File> files_;
  // Sums over the files, so that an update costs the same for ten files and ten thousand.
  double done_ = 0, earlier_ = 0, known_total_ = 0;
  size_t with_total_ = 0, without_total_ = 0, without_audio_ = 0, finished_ = 0;
};

// Shows it: a bar on a terminal, now and then a line elsewhere, so that short work stays silent there.
class ProgressDisplay {
 public:
  // One file goes by its name, several by how many are finished.
  ProgressDisplay(Console& console, std::string name);
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  void update(const OverallProgress& progress);
  double elapsed() const;

 private:
  using Clock = std::chrono::steady_clock;
  Console& console_;
  std::string name_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace sotto::cli
