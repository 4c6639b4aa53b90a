#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sotto::cpu {

// What the machine can do at best, as loops that do nothing else: the ceilings that speeds are compared with.
struct PeakKernels {
  size_t float_operations;  // of one round; a multiply-add counts as two
  float (*multiply_add)(size_t rounds);
  size_t int8_operations;
  int32_t (*multiply_add_int8)(size_t rounds);
  int32_t (*read)(const int32_t* values, size_t count);  // count: a multiple of 1024
};

}  // namespace sotto::cpu
