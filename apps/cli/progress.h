#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "cli/terminal.h"

namespace sotto::cli {

struct ProgressState {
  std::string label;
  double done = 0;     // seconds of audio
  double total = -1;   // negative: unknown
  double elapsed = 0;  // seconds of work

  std::optional<double> fraction() const;  // 0 to 1
  std::optional<double> speed() const;     // times real time
  std::optional<double> seconds_left() const;
};

std::string clock_text(double seconds);                                            // 1:05, 2:03:04
std::string progress_line(const ProgressState& state);                             // for a log file
std::string progress_bar(const ProgressState& state, size_t width, bool colours);  // for a terminal

// Shows how far one file is: a bar on a terminal, now and then a line elsewhere, so that short work stays
// silent there.
class Progress {
 public:
  Progress(Console& console, std::string label);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(double done, double total);
  double elapsed() const;

 private:
  using Clock = std::chrono::steady_clock;
  Console& console_;
  ProgressState state_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
};

}  // namespace sotto::cli
