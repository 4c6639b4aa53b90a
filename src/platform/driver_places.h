#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sotto {

// What the files of the GPU drivers are called on this system, newest interface first.
struct DriverNames {
  std::vector<std::string> cuda, hip, vulkan;
};
const DriverNames& driver_names();

// Where the system's loader looks for libraries. Everything is below `root`: "/" but in tests.
std::vector<std::filesystem::path> loader_folders(const std::filesystem::path& root);

// The libraries of every ROCm that is installed beside the system's own, newest first.
std::vector<std::filesystem::path> rocm_folders(const std::filesystem::path& root);

// The folder of a ROCm installation that holds its libraries: "lib".
std::filesystem::path rocm_libraries(const std::filesystem::path& installation);

// The folders that an environment variable lists.
std::vector<std::filesystem::path> listed_folders(const char* variable);

}  // namespace sotto
