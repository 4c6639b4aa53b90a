#pragma once

#include <vector>

#include "device/backends.h"

namespace sotto {

// Vulkan and, on MoltenVK, metal; nothing in a build without them.
std::vector<BackendEntry> vulkan_entries();

}  // namespace sotto
