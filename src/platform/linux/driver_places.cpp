#include "platform/driver_places.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace sotto {
namespace {
namespace fs = std::filesystem;

constexpr const char* kMultiarch =
#if defined(__aarch64__)
    "aarch64-linux-gnu";
#else
    "x86_64-linux-gnu";
#endif

// The absolute folders in a file of the loader's configuration.
void append_configured(const fs::path& file, const fs::path& root, std::vector<fs::path>& folders) {
  std::ifstream configuration(file);
  std::string line;
  while (std::getline(configuration, line))
    if (!line.empty() && line.front() == '/') folders.push_back(root / fs::path(line).relative_path());
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code ended;
  for (fs::directory_iterator entry(folder, ended), last; !ended && entry != last; entry.increment(ended))
    paths.push_back(entry->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

const DriverNames& driver_names() {
  static const DriverNames names{
      {"libcuda.so.1"}, {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}, {"libvulkan.so.1"}};
  return names;
}

std::vector<fs::path> loader_folders(const fs::path& root) {
  std::vector<fs::path> folders = listed_folders("LD_LIBRARY_PATH");
  append_configured(root / "etc/ld.so.conf", root, folders);
  for (const fs::path& file : sorted_entries(root / "etc/ld.so.conf.d"))
    if (file.extension() == ".conf") append_configured(file, root, folders);
  const std::string lib = std::string("lib/") + kMultiarch;
  // WSL and NixOS keep the drivers' libraries apart from the others.
  for (const std::string& folder :
       {lib, "usr/" + lib, std::string("lib64"), std::string("usr/lib64"), std::string("lib"),
        std::string("usr/lib"), std::string("usr/lib/wsl/lib"), std::string("run/opengl-driver/lib")})
    folders.push_back(root / folder);
  return folders;
}

std::vector<fs::path> rocm_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  for (const fs::path& entry : sorted_entries(root / "opt"))
    if (entry.filename().string().rfind("rocm", 0) == 0) folders.push_back(rocm_libraries(entry));
  // By version: "rocm-6.10" is newer than "rocm-6.2". "/opt/rocm" itself is what the administrator chose.
  std::stable_sort(folders.begin(), folders.end(), [](const fs::path& a, const fs::path& b) {
    const std::string one = a.parent_path().filename(), other = b.parent_path().filename();
    if (one == "rocm" || other == "rocm") return one == "rocm" && other != "rocm";
    return strverscmp(one.c_str(), other.c_str()) > 0;
  });
  return folders;
}

fs::path rocm_libraries(const fs::path& installation) {
  return installation / "lib";
}

std::vector<fs::path> listed_folders(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  std::istringstream list(value != nullptr ? value : "");
  std::string folder;
  while (std::getline(list, folder, ':'))
    if (!folder.empty()) folders.emplace_back(folder);
  return folders;
}

}  // namespace sotto
