#include "platform/dynamic_library.h"

#include <string>
#include <utility>

#include <dlfcn.h>
#include <link.h>

namespace sotto {
namespace {

std::filesystem::path opened_file(void* handle, const std::filesystem::path& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name[0] == '\0') return asked;
  return map->l_name;
}

}  // namespace

DynamicLibrary::DynamicLibrary(void* handle, std::filesystem::path path)
    : handle_(handle), path_(std::move(path)) {}

DynamicLibrary::DynamicLibrary(DynamicLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}

DynamicLibrary& DynamicLibrary::operator=(DynamicLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(path_, other.path_);
  return *this;
}

DynamicLibrary::~DynamicLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

DynamicLibrary DynamicLibrary::open(const std::filesystem::path& path_or_name) {
  // Local: two drivers may bring different versions of the same function.
  void* handle = dlopen(path_or_name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw Error(ErrorCode::device, "{}: cannot be opened: {}", path_or_name.string(),
                reason != nullptr ? reason : "the loader gives no reason");
  }
  return DynamicLibrary(handle, opened_file(handle, path_or_name));
}

void* DynamicLibrary::address(const char* name) const noexcept {
  return dlsym(handle_, name);
}

std::filesystem::path this_module() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&this_module), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code unknown;
  return std::filesystem::weakly_canonical(info.dli_fname, unknown);
}

std::filesystem::path this_program() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

}  // namespace sotto
