#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <spdlog/logger.h>

namespace sotto::cli {

enum class Verbosity { quiet, normal, verbose };

// Everything the program writes goes through here, so that a status line, messages and the transcript never
// run into each other when they share a terminal. Any thread may write; the verbosity is set before there are
// several.
class Console {
 public:
  Console();
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  void set_verbosity(Verbosity verbosity);
  bool quiet() const noexcept { return verbosity_ == Verbosity::quiet; }

  // A line of the answer itself, to standard output, at once. Throws Failure when it cannot be written.
  void print(std::string_view text);

  // To standard error; quiet leaves only errors, verbose adds debug.
  void message(spdlog::level::level_enum level, std::string_view text);
  void info(std::string_view text) { message(spdlog::level::info, text); }
  void warning(std::string_view text) { message(spdlog::level::warn, text); }
  void error(std::string_view text) { message(spdlog::level::err, text); }

  // One line at the bottom of the terminal that is replaced by the next; does nothing unless shows_status().
  bool shows_status() const noexcept { return status_possible_ && !quiet(); }
  void set_status(std::string line);
  void clear_status();
  size_t width() const;
  bool colours() const noexcept { return colours_; }

 private:
  void erase_status_line();
  void draw_status_line();

  std::mutex mutex_;  // held while anything is written
  std::shared_ptr<spdlog::logger> logger_;
  std::string status_;  // guarded by mutex_
  Verbosity verbosity_ = Verbosity::normal;
  bool status_possible_;
  bool output_shares_terminal_;
  bool colours_;
};

// At most `columns` characters; a longer name keeps its end, where names usually differ.
std::string shortened(std::string_view utf8, size_t columns);
size_t displayed_columns(std::string_view utf8);  // code points: close enough for names

}  // namespace sotto::cli
