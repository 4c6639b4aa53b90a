#include "platform/dynamic_library.h"

#include <utility>

#include "platform/windows/wide_text.h"

namespace sotto {
namespace {

std::filesystem::path file_of(HMODULE module) {
  std::wstring path(32768, L'\0');
  const DWORD length = GetModuleFileNameW(module, path.data(), static_cast<DWORD>(path.size()));
  path.resize(length);
  return path;
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
  if (handle_ != nullptr) FreeLibrary(static_cast<HMODULE>(handle_));
}

DynamicLibrary DynamicLibrary::open(const std::filesystem::path& path_or_name) {
  // A driver's own folder is searched for what it needs; a bare name is looked for in the system's folder
  // only, never in the current one.
  const DWORD search = path_or_name.is_absolute()
                           ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32
                           : LOAD_LIBRARY_SEARCH_SYSTEM32;
  const HMODULE module = LoadLibraryExW(path_or_name.c_str(), nullptr, search);
  if (module == nullptr)
    throw Error(ErrorCode::device, "{}: cannot be opened: {}", path_or_name.string(),
                windows::last_error_text());
  return DynamicLibrary(module, file_of(module));
}

void* DynamicLibrary::address(const char* name) const noexcept {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(handle_), name));
}

std::filesystem::path this_module() {
  HMODULE module = nullptr;
  const DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
  if (GetModuleHandleExW(how, reinterpret_cast<const wchar_t*>(&this_module), &module) == 0) return {};
  return file_of(module);
}

std::filesystem::path this_program() {
  return file_of(nullptr);
}

}  // namespace sotto
