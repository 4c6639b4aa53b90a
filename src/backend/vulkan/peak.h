#pragma once

#include "backend/backend.h"

namespace sotto {

// The ceilings of a Vulkan device, measured by kernels that do nothing else.
struct VulkanPeaks {
  double float_operations_per_second = 0;  // a multiply-add counts as two
  double copy_bytes_per_second = 0;        // read and written bytes together
};

// Takes about a second. The backend must come from make_vulkan_backend().
VulkanPeaks measure_vulkan_peaks(Backend& backend);

}  // namespace sotto
