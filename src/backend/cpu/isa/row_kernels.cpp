#include "backend/cpu/row_kernels.h"

#include <math.h>

#include "backend/cpu/isa/vec.h"

namespace sotto::cpu::SOTTO_ISA {
namespace {

constexpr float kMinusInfinity = -__builtin_inff();

// Calls step(Vec of x[i ...], i, how many of its lanes are real) along a row; missing lanes hold `fill`.
template <class Step>
inline void for_lanes(const float* x, size_t count, float fill, Step step) {
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) step(load(x + i), i, size_t{kLanes});
  if (i < count) step(load_some(x + i, count - i, fill), i, count - i);
}

void layer_norm(const float* x, const float* scale, const float* shift, float* y, size_t width) {
  Vec sum{};
  for_lanes(x, width, 0.0f, [&](Vec v, size_t, size_t) { sum += v; });
  const Vec mean = broadcast(reduce_add(sum) / (float)width);
  // A second pass over the differences: the mean of squares minus the square of the mean would cancel.
  Vec squares{};
  for_lanes(x, width, mean[0], [&](Vec v, size_t, size_t) { squares = fmadd(v - mean, v - mean, squares); });
  const Vec inverse = broadcast(1.0f / sqrtf(reduce_add(squares) / (float)width + 1e-5f));
  for_lanes(x, width, 0.0f, [&](Vec v, size_t i, size_t lanes) {
    const Vec normal = (v - mean) * inverse;
    if (lanes == kLanes) {
      store(y + i, fmadd(normal, load(scale + i), load(shift + i)));
    } else {
      const Vec result = fmadd(normal, load_some(scale + i, lanes, 0.0f), load_some(shift + i, lanes, 0.0f));
      store_some(y + i, result, lanes);
    }
  });
}

float maximum(const float* x, size_t count) {
  Vec best = broadcast(kMinusInfinity);
  VecInt unordered{};
  for_lanes(x, count, kMinusInfinity, [&](Vec v, size_t, size_t) {
    best = max(best, v);
    unordered |= v != v;
  });
  for (int i = 0; i < kLanes; ++i)
    if (unordered[i] != 0) return __builtin_nanf("");
  return reduce_max(best);
}

float sum_exp(const float* x, size_t count, float shift) {
  const Vec offset = broadcast(shift);
  Vec even{}, odd{};  // two sums, so that an addition need not wait for the one before it
  size_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    even += exp(load(x + i) - offset);
    odd += exp(load(x + i + kLanes) - offset);
  }
  for_lanes(x + i, count - i, kMinusInfinity, [&](Vec v, size_t, size_t) { even += exp(v - offset); });
  return reduce_add(even + odd);
}

size_t next_above(const float* x, size_t first, size_t last, float threshold) {
  const Vec limit = broadcast(threshold);
  for (; first + 4 * kLanes <= last; first += 4 * kLanes) {
    const Vec best = max(max(load(x + first), load(x + first + kLanes)),
                         max(load(x + first + 2 * kLanes), load(x + first + 3 * kLanes)));
    if (any_above(best, limit)) break;
  }
  while (first < last && !(x[first] > threshold)) ++first;
  return first;
}

}  // namespace

extern const RowKernels row_kernels;
constinit const RowKernels row_kernels = {layer_norm, maximum, sum_exp, next_above};

}  // namespace sotto::cpu::SOTTO_ISA
