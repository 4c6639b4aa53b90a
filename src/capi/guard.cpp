#include "capi/guard.h"

#include <cstdlib>
#include <cstring>

namespace sotto::capi {
namespace {

std::string& last_error() {
  thread_local std::string text;  // of this thread's last failing call; nothing of a device depends on it
  return text;
}

}  // namespace

sotto_status status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::usage:
      return SOTTO_ERROR_USAGE;
    case ErrorCode::io:
      return SOTTO_ERROR_IO;
    case ErrorCode::bad_model:
      return SOTTO_ERROR_MODEL;
    case ErrorCode::bad_audio:
      return SOTTO_ERROR_AUDIO;
    case ErrorCode::unsupported:
      return SOTTO_ERROR_UNSUPPORTED;
    case ErrorCode::out_of_memory:
      return SOTTO_ERROR_MEMORY;
    case ErrorCode::cancelled:
      return SOTTO_CANCELLED;
    case ErrorCode::device:
      return SOTTO_ERROR_DEVICE;
    case ErrorCode::internal:
      return SOTTO_ERROR_INTERNAL;
  }
  return SOTTO_ERROR_INTERNAL;
}

sotto_status fail(sotto_status status, const char* text) noexcept {
  try {
    last_error() = text;
  } catch (...) {  // no memory even for the message: the status has to do
  }
  return status;
}

void require(const void* argument, const char* name) {
  if (argument == nullptr) throw Error(ErrorCode::usage, "the argument '{}' must not be NULL", name);
}

char* copy_text(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace sotto::capi

extern "C" {

const char* sotto_version(void) {
  return SOTTO_VERSION;
}
const char* sotto_last_error(void) {
  return sotto::capi::last_error().c_str();
}
void sotto_free(char* text) {
  std::free(text);
}

}  // extern "C"
