#pragma once

#include "support/test_backends.h"

namespace sotto::test {

// The Vulkan device of this machine (at least Mesa's software driver, where that is installed), once for each
// set of kernels, under the watch of the Khronos validation layer. In a build without Vulkan: one that is
// absent.
std::vector<TestBackend> vulkan_test_backends();

}  // namespace sotto::test
