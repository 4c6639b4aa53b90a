#include "device/driver_files.h"

#include <cstdlib>
#include <set>
#include <string>

#include "device/hardware.h"
#include "platform/driver_places.h"

namespace sotto {
namespace {
namespace fs = std::filesystem;

// Files of given names, each only once, whatever links lead to it.
class Finder {
 public:
  explicit Finder(const std::vector<std::string>& names) : names_(names) {}

  // The newest name in all folders comes before the next name.
  void look_in(const std::vector<fs::path>& folders) {
    for (const std::string& name : names_)
      for (const fs::path& folder : folders) take(folder / name);
  }

  std::vector<fs::path> found() && { return std::move(found_); }

 private:
  void take(const fs::path& path) {
    std::error_code missing;
    const fs::path file = fs::canonical(path, missing);
    if (!missing && fs::is_regular_file(file, missing) && seen_.insert(file).second) found_.push_back(path);
  }

  const std::vector<std::string>& names_;
  std::set<fs::path> seen_;
  std::vector<fs::path> found_;
};

std::vector<fs::path> below_variable(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || value[0] == '\0') return {};
  return {rocm_libraries(value)};
}

}  // namespace

std::vector<fs::path> driver_files(DeviceKind kind) {
  const DriverNames& names = driver_names();
  const bool rocm = kind == DeviceKind::rocm;
  Finder finder(rocm ? names.hip : kind == DeviceKind::cuda ? names.cuda : names.vulkan);
  finder.look_in(listed_folders("SOTTO_DRIVER_PATH"));
  finder.look_in(loader_folders(system_root()));
  if (rocm) {
    finder.look_in(rocm_folders(system_root()));
    finder.look_in(below_variable("ROCM_PATH"));
    finder.look_in(below_variable("HIP_PATH"));
  }
  return std::move(finder).found();
}

}  // namespace sotto
