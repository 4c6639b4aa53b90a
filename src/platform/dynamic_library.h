#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace sotto {

// A shared library that was opened at run time, with its one owner.
class DynamicLibrary {
 public:
  // A path, or a bare name that the system's own search resolves. Throws Error(device) with the loader's
  // words.
  static DynamicLibrary open(const std::filesystem::path& path_or_name);

  DynamicLibrary(DynamicLibrary&& other) noexcept;
  DynamicLibrary& operator=(DynamicLibrary&& other) noexcept;
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;
  ~DynamicLibrary();

  // The file that was opened, as the loader found it.
  const std::filesystem::path& path() const noexcept { return path_; }

  // A function by its name; nullptr where the library has none of that name.
  template <class Function>
  Function find(const char* name) const noexcept {
    return reinterpret_cast<Function>(address(name));
  }

  // As find(), but Error(unsupported) where there is none.
  template <class Function>
  Function symbol(const char* name) const {
    if (const auto function = find<Function>(name)) return function;
    throw Error(ErrorCode::unsupported, "{} has no function {}: it is too old", path_.string(), name);
  }

 private:
  DynamicLibrary(void* handle, std::filesystem::path path);
  void* address(const char* name) const noexcept;

  void* handle_ = nullptr;
  std::filesystem::path path_;
};

// The file that holds this code: the shared library, or the program it is linked into. Empty when unknown.
std::filesystem::path this_module();

// The running program. Empty when unknown.
std::filesystem::path this_program();

}  // namespace sotto
