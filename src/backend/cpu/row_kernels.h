#pragma once

#include <cstddef>

namespace sotto::cpu {

// Kernels over one row of float32 values. Sums run in a fixed order: a row always gives the same bits.
struct RowKernels {
  // y = (x - mean) / sqrt(variance + 1e-5) * scale + shift; y may be x.
  void (*layer_norm)(const float* x, const float* scale, const float* shift, float* y, size_t width);

  // The largest value; minus infinity for an empty row; a NaN where the row holds one.
  float (*maximum)(const float* x, size_t count);

  // The sum of e^(x - shift); no value may exceed shift.
  float (*sum_exp)(const float* x, size_t count, float shift);

  // The first index in [first, last) whose value is greater than the threshold, or last.
  size_t (*next_above)(const float* x, size_t first, size_t last, float threshold);
};

}  // namespace sotto::cpu
