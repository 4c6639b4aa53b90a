#pragma once

#include <cstddef>
#include <string_view>

#include "fault/emulated/fibers.h"

namespace sotto::gpu::emulated {

struct Kernel {
  std::string_view name;
  unsigned threads;  // per block: what it was made for
  size_t argument_bytes;
  void (*run)(const Grid& grid, const void* arguments);
};

const Kernel* find_kernel(std::string_view name);  // nullptr: there is none

}  // namespace sotto::gpu::emulated
