#include "device/vulkan_entry.h"

#include "backend/vulkan/peak.h"
#include "backend/vulkan/vulkan_backend.h"
#include "base/error.h"
#include "device/driver_files.h"
#include "platform/directories.h"

namespace sotto {
namespace {

// What a device must have was asked by the probe, which tells of what is missing.
bool every_device(const Device&, std::string&) {
  return true;
}

// The loader that knows the device: the probe found it in one of these.
std::unique_ptr<Backend> open_vulkan(const Device& device, ComputeType type, int /*threads*/) {
  VulkanOptions options;
  options.compute_type = type;
  options.uuid = device.uuid;
  options.index = device.index;
  options.cache = user_cache_directory() / "vulkan";
  const auto libraries = driver_files(DeviceKind::vulkan);
  for (size_t i = 0; i < libraries.size(); ++i) {
    options.library = libraries[i];
    try {
      return make_vulkan_backend(options);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::device || i + 1 == libraries.size()) throw;
    }
  }
  throw Error(ErrorCode::device, "Vulkan's loader is not there any more");
}

DeviceCeilings measure(Backend& backend) {
  const VulkanPeaks peaks = measure_vulkan_peaks(backend);
  return {peaks.float_operations_per_second, peaks.copy_bytes_per_second};
}

}  // namespace

std::vector<BackendEntry> vulkan_entries() {
  return {{DeviceKind::vulkan, every_device, open_vulkan, measure},
          {DeviceKind::metal, every_device, open_vulkan, measure}};
}

}  // namespace sotto
