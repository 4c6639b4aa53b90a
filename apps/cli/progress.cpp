#include "cli/progress.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sotto::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kBarInterval{100};
constexpr seconds kLineInterval{10};
constexpr size_t kWidestBar = 40;
constexpr size_t kNarrowestBar = 10;
constexpr size_t kNarrowestLabel = 12;
constexpr size_t kFreeColumns = 3;

std::string percent_text(const ProgressState& state) {
  const auto fraction = state.fraction();
  // Rounded down: 100% is said only when all is done.
  return fraction ? fmt::format("{:3.0f}%", std::floor(*fraction * 100)) : clock_text(state.done);
}

std::string rest_text(const ProgressState& state) {
  std::string text;
  if (const auto speed = state.speed()) text += fmt::format("  {:.1f}x", *speed);
  if (const auto left = state.seconds_left()) text += fmt::format("  {} left", clock_text(*left));
  return text;
}

std::string drawn_bar(double fraction, size_t cells, bool colours) {
  const size_t filled = std::min(cells, static_cast<size_t>(fraction * static_cast<double>(cells)));
  std::string bar(filled, '=');
  if (filled < cells) bar += '>';
  const std::string_view on = colours ? "\x1b[36m" : "";
  const std::string_view off = colours ? "\x1b[0m" : "";
  return fmt::format("[{}{}{}{}]", on, bar, off, std::string(cells - bar.size(), ' '));
}

}  // namespace

std::optional<double> ProgressState::fraction() const {
  if (!(total > 0)) return std::nullopt;
  return std::clamp(done / total, 0.0, 1.0);
}

std::optional<double> ProgressState::speed() const {
  if (!(elapsed > 0) || !(done > earlier)) return std::nullopt;
  return (done - earlier) / elapsed;
}

std::optional<double> ProgressState::seconds_left() const {
  const auto pace = speed();
  if (!pace || !(total > 0)) return std::nullopt;
  return std::max(0.0, total - done) / *pace;
}

std::string clock_text(double seconds_exact) {
  const auto all = static_cast<long long>(std::max(0.0, seconds_exact) + 0.5);
  const long long hours = all / 3600, minutes = all / 60 % 60, rest = all % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, rest);
  return fmt::format("{}:{:02}", minutes, rest);
}

std::string progress_line(const ProgressState& state) {
  const std::string total = state.total > 0 ? fmt::format(" of {}", clock_text(state.total)) : "";
  const auto fraction = state.fraction();
  const std::string percent = fraction ? fmt::format(" ({:.0f}%)", std::floor(*fraction * 100)) : "";
  return fmt::format("{}: {}{}{}{}", state.label, clock_text(state.done), total, percent, rest_text(state));
}

std::string progress_bar(const ProgressState& state, size_t width, bool colours) {
  const std::string numbers = percent_text(state) + rest_text(state);
  // The last columns stay free: there the terminal echoes ^C, and some wrap as soon as the very last one is
  // written.
  const size_t room = width > kFreeColumns ? width - kFreeColumns : 1;
  if (room < numbers.size() + kNarrowestLabel + 1) return shortened(numbers, room);
  const size_t beside_numbers = room - numbers.size() - 1;
  const auto fraction = state.fraction();
  const size_t label_columns =
      std::min(displayed_columns(state.label), std::max(kNarrowestLabel, beside_numbers / 2));
  const size_t bar_frame = 3;  // two brackets and a space
  if (!fraction || beside_numbers < label_columns + bar_frame + kNarrowestBar)
    return fmt::format("{} {}", shortened(state.label, beside_numbers), numbers);
  const size_t cells = std::min(kWidestBar, beside_numbers - label_columns - bar_frame);
  return fmt::format("{} {} {}", shortened(state.label, label_columns), drawn_bar(*fraction, cells, colours),
                     numbers);
}

void OverallProgress::advance(size_t index, double done, double total) {
  File& file = files_[index];
  if (!file.begun) {
    file.begun = true;
    file.total = total;
    ++(total >= 0 ? with_total_ : without_total_);
    known_total_ += std::max(total, 0.0);
  }
  done_ += done - file.done;
  file.done = done;
  if (file.resumes && done > 0) {
    earlier_ += done;
    file.resumes = false;
  }
}

void OverallProgress::finish(size_t index) {
  ++finished_;
  File& file = files_[index];
  if (!file.begun) {
    ++without_audio_;
    return;
  }
  if (file.total < 0) {  // now it is known
    file.total = file.done;
    known_total_ += file.total;
    --without_total_;
    ++with_total_;
  }
  // What was left out, for example because the file is damaged, is not waited for.
  advance(index, file.total, file.total);
}

double OverallProgress::total() const {
  if (without_total_ > 0 || with_total_ == 0) return -1;
  return known_total_ / static_cast<double>(with_total_) *
         static_cast<double>(files_.size() - without_audio_);
}

ProgressDisplay::ProgressDisplay(Console& console, std::string name)
    : console_(console), name_(std::move(name)), next_(start_) {
  if (!console_.shows_status()) next_ += kLineInterval;
}

ProgressDisplay::~ProgressDisplay() {
  console_.clear_status();
}

double ProgressDisplay::elapsed() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void ProgressDisplay::update(const OverallProgress& progress) {
  const auto now = Clock::now();
  if (now < next_ || console_.quiet()) return;
  ProgressState state{.label = name_,
                      .done = progress.done(),
                      .total = progress.total(),
                      .earlier = progress.earlier(),
                      .elapsed = elapsed()};
  if (progress.count() > 1)
    state.label = fmt::format("{} of {} files", progress.finished(), progress.count());
  if (console_.shows_status()) {
    console_.set_status(progress_bar(state, console_.width(), console_.colours()));
    next_ = now + kBarInterval;
  } else {
    console_.info(progress_line(state));
    next_ = now + kLineInterval;
  }
}

}  // namespace sotto::cli
