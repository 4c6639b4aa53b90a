#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backend/gpu/images.h"

namespace sotto::gpu {

// The type that activations have in memory; kernels end in its name.
enum class Element { f16, bf16, f32 };
std::string_view element_name(Element element) noexcept;
size_t element_bytes(Element element) noexcept;

// Every kernel that the backend may ask for on a path: what an image of it must contain.
std::vector<std::string> kernel_names(Path path);

}  // namespace sotto::gpu
