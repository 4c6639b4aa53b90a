#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace sotto {

// What kind of thing went wrong. The C API and the exit codes are derived from it; the text is for people.
enum class ErrorCode {
  usage,          // the caller asked for something that makes no sense
  io,             // a file or folder could not be read or written
  bad_model,      // a model file is damaged, incomplete or of an unknown kind
  bad_audio,      // the input holds no usable audio
  unsupported,    // valid, but this build, device or model cannot do it
  out_of_memory,  // a memory need was refused or failed
  cancelled,      // the caller asked to stop
  device,         // a device or driver failed
  internal,       // a bug in Sotto
};

// The one exception type of the library. The message says what happened, where, why, and what to do next.
class Error : public std::runtime_error {
 public:
  template <class... Args>
  Error(ErrorCode code, fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)), code_(code) {}

  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace sotto
