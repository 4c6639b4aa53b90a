#pragma once

#include <filesystem>
#include <vector>

#include "device/catalogue.h"

namespace sotto {

// The driver libraries of a kind (cuda, rocm, vulkan) that are installed, in the order in which they should
// be tried, each file once. Found by looking, not by loading: in SOTTO_DRIVER_PATH (for tests;
// colon-separated folders), where the system's loader looks, in /opt/rocm*/lib, below ROCM_PATH and, last
// because it often points to a version that the kernel's driver cannot serve, below HIP_PATH.
std::vector<std::filesystem::path> driver_files(DeviceKind kind);

}  // namespace sotto
