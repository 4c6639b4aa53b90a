#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sotto::vk {

// A kernel that was compiled at build time. Its name is that of its source and of the definitions it was
// compiled with, in the order of CMakeLists.txt: "layer_norm.SUBGROUPS.HALF".
struct Spirv {
  std::string_view name;
  const uint32_t* begin;
  const uint32_t* end;
  std::span<const uint32_t> code() const noexcept { return {begin, end}; }
};

std::span<const Spirv> built_in_spirv() noexcept;

}  // namespace sotto::vk
