#include "platform/driver_places.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <shlobj.h>
#include <shlwapi.h>

#include "platform/windows/wide_text.h"

namespace sotto {
namespace {
namespace fs = std::filesystem;

fs::path known_folder(const KNOWNFOLDERID& id) {
  wchar_t* text = nullptr;
  fs::path path;
  if (SHGetKnownFolderPath(id, KF_FLAG_DEFAULT, nullptr, &text) == S_OK) path = text;
  CoTaskMemFree(text);
  return path;
}

// A test's root replaces the drive.
fs::path below(const fs::path& root, const fs::path& absolute) {
  return root == "/" ? absolute : root / absolute.relative_path();
}

}  // namespace

const DriverNames& driver_names() {
  static const DriverNames names{{"nvcuda.dll"}, {"amdhip64_7.dll", "amdhip64_6.dll"}, {"vulkan-1.dll"}};
  return names;
}

std::vector<fs::path> loader_folders(const fs::path& root) {
  return {below(root, known_folder(FOLDERID_System))};
}

std::vector<fs::path> rocm_folders(const fs::path& root) {
  std::vector<fs::path> installations, folders;
  std::error_code ended;
  const fs::path place = below(root, known_folder(FOLDERID_ProgramFiles) / "AMD" / "ROCm");
  for (fs::directory_iterator entry(place, ended), last; !ended && entry != last; entry.increment(ended))
    installations.push_back(entry->path());
  // By version: "6.10" is newer than "6.2".
  std::sort(installations.begin(), installations.end(), [](const fs::path& a, const fs::path& b) {
    return StrCmpLogicalW(a.filename().c_str(), b.filename().c_str()) > 0;
  });
  for (const fs::path& installation : installations) folders.push_back(rocm_libraries(installation));
  return folders;
}

fs::path rocm_libraries(const fs::path& installation) {
  return installation / "bin";
}

std::vector<fs::path> listed_folders(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  std::istringstream list(value != nullptr ? value : "");
  std::string folder;
  while (std::getline(list, folder, ';'))
    if (!folder.empty()) folders.emplace_back(folder);
  return folders;
}

}  // namespace sotto
