#include "device/vulkan_entry.h"

namespace sotto {

std::vector<BackendEntry> vulkan_entries() {
  return {};
}

}  // namespace sotto
