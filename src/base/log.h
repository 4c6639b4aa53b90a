#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace sotto {

enum class LogLevel { debug, info, warning, error };

// The library never prints: everything it has to say goes to the sink that the program sets. Default:
// nowhere.
using LogSink = std::function<void(LogLevel, std::string_view)>;
void set_log_sink(LogSink sink);
void log_message(LogLevel level, std::string_view text);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace sotto
