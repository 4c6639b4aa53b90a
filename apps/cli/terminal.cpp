#include "cli/terminal.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/engine.h"

namespace sotto::cli {
namespace {

constexpr size_t kDefaultWidth = 80;
constexpr std::string_view kEraseLine = "\r\x1b[K";

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool understands_escapes() {
  return isatty(STDERR_FILENO) && environment("TERM") != "dumb";
}

std::shared_ptr<spdlog::logger> make_logger(bool colours) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colours ? spdlog::color_mode::always
                                                                            : spdlog::color_mode::never);
  sink->set_color(spdlog::level::debug, "\x1b[2m");
  sink->set_color(spdlog::level::info, "\x1b[0m");
  sink->set_color(spdlog::level::warn, "\x1b[33m");
  sink->set_color(spdlog::level::err, "\x1b[31m");
  auto logger = std::make_shared<spdlog::logger>("sotto", std::move(sink));
  logger->set_pattern("%^%v%$");
  return logger;
}

std::string_view prefix(spdlog::level::level_enum level) {
  if (level >= spdlog::level::err) return "Error: ";
  if (level == spdlog::level::warn) return "Warning: ";
  return "";
}

bool starts_code_point(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

}  // namespace

Console::Console()
    : status_possible_(understands_escapes()),
      output_shares_terminal_(isatty(STDOUT_FILENO)),
      colours_(understands_escapes() && environment("NO_COLOR").empty()) {
  logger_ = make_logger(colours_);
  set_verbosity(Verbosity::normal);
}

Console::~Console() {
  erase_status_line();
}

void Console::set_verbosity(Verbosity verbosity) {
  verbosity_ = verbosity;
  logger_->set_level(verbosity == Verbosity::quiet     ? spdlog::level::err
                     : verbosity == Verbosity::verbose ? spdlog::level::debug
                                                       : spdlog::level::info);
}

void Console::print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (output_shares_terminal_) erase_status_line();
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) throw Failure(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  if (output_shares_terminal_) draw_status_line();
}

void Console::message(spdlog::level::level_enum level, std::string_view text) {
  if (!logger_->should_log(level)) return;
  const std::lock_guard lock(mutex_);
  erase_status_line();
  logger_->log(level, "{}{}", prefix(level), text);
  logger_->flush();
  draw_status_line();
}

void Console::set_status(std::string line) {
  if (!shows_status()) return;
  const std::lock_guard lock(mutex_);
  status_ = std::move(line);
  erase_status_line();
  draw_status_line();
}

void Console::clear_status() {
  const std::lock_guard lock(mutex_);
  erase_status_line();
  status_.clear();
}

size_t Console::width() const {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kDefaultWidth;
}

void Console::erase_status_line() {
  if (status_.empty()) return;
  std::fwrite(kEraseLine.data(), 1, kEraseLine.size(), stderr);
  std::fflush(stderr);
}

void Console::draw_status_line() {
  if (status_.empty()) return;
  std::fwrite(status_.data(), 1, status_.size(), stderr);
  std::fflush(stderr);
}

size_t displayed_columns(std::string_view utf8) {
  size_t columns = 0;
  for (const char byte : utf8) columns += starts_code_point(byte);
  return columns;
}

std::string shortened(std::string_view utf8, size_t columns) {
  size_t excess = displayed_columns(utf8);
  if (excess <= columns) return std::string(utf8);
  if (columns <= 3) return std::string(columns, '.');
  excess -= columns - 3;
  size_t at = 0;
  while (at < utf8.size() && (excess > 0 || !starts_code_point(utf8[at])))
    excess -= starts_code_point(utf8[at++]);
  return fmt::format("...{}", utf8.substr(at));
}

}  // namespace sotto::cli
