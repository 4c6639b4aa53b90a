#pragma once

#include <string_view>
#include <vector>

#include "device/catalogue.h"

namespace sotto {

// The number formats that a chip is made for, best first; never one that it lacks. Unknown architectures are
// trusted with float32 alone. For Vulkan the driver says whether it has 16-bit floats.
std::vector<ComputeType> cuda_compute_types(std::string_view architecture);  // "sm_89"
std::vector<ComputeType> rocm_compute_types(std::string_view architecture);  // "gfx1010"
std::vector<ComputeType> vulkan_compute_types(bool float16);
std::vector<ComputeType> cpu_compute_types();

// What to compute in: the asked-for type, or with automatic the best one. Throws Error(unsupported) that
// lists the types there are.
ComputeType choose_compute_type(const Device& device, ComputeType asked);

}  // namespace sotto
