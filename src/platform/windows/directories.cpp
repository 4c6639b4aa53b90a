#include "platform/directories.h"

#include <cstdlib>

#include <shlobj.h>

#include "platform/windows/wide_text.h"

namespace sotto {
namespace {

std::filesystem::path known_folder(const KNOWNFOLDERID& id) {
  wchar_t* text = nullptr;
  std::filesystem::path path;
  if (SHGetKnownFolderPath(id, KF_FLAG_DEFAULT, nullptr, &text) == S_OK) path = text;
  CoTaskMemFree(text);
  return path.empty() ? std::filesystem::temp_directory_path() : path;
}

}  // namespace

std::filesystem::path home_directory() {
  return known_folder(FOLDERID_Profile);
}
std::filesystem::path user_cache_directory() {
  return known_folder(FOLDERID_LocalAppData) / "sotto" / "cache";
}
std::filesystem::path user_config_directory() {
  return known_folder(FOLDERID_RoamingAppData) / "sotto";
}
std::filesystem::path user_data_directory() {
  return known_folder(FOLDERID_LocalAppData) / "sotto";
}

}  // namespace sotto
