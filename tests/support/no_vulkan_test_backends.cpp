#include "support/vulkan_test_backends.h"

namespace sotto::test {

std::vector<TestBackend> vulkan_test_backends() {
  TestBackend missing;
  missing.name = missing.device = "vulkan";
  missing.absent = "this build has no Vulkan kernels (glslang or Vulkan's headers were missing)";
  missing.types.push_back({ComputeType::float32, Storage::float32, Storage::float32, {}});
  missing.whole = true;
  return {missing};
}

}  // namespace sotto::test
