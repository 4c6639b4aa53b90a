#pragma once

#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/element.h"

// What follows the product in the plain kernels.
namespace sotto::gpu {

// x (1 + erf(x / sqrt 2)) / 2 by the polynomial of the CPU's kernels: the error of the normal distribution
// function is below 1.3e-7.
__device__ __forceinline__ float gelu(float x) {
  constexpr float kEnd = 5.4F;
  const float inside = x < -kEnd ? -kEnd : x > kEnd ? kEnd : x;
  const float t = multiply_add(inside * inside, 2.0F / (kEnd * kEnd), -1.0F);
  float q = -0.0008733374997973442F;
  q = multiply_add(q, t, 0.002172245644032955F);
  q = multiply_add(q, t, -0.0016513951122760773F);
  q = multiply_add(q, t, 0.001981935929507017F);
  q = multiply_add(q, t, -0.006182690616697073F);
  q = multiply_add(q, t, 0.010721776634454727F);
  q = multiply_add(q, t, -0.014253759756684303F);
  q = multiply_add(q, t, 0.01929592341184616F);
  q = multiply_add(q, t, -0.0256702471524477F);
  q = multiply_add(q, t, 0.032170552760362625F);
  q = multiply_add(q, t, -0.03921527788043022F);
  q = multiply_add(q, t, 0.04849648475646973F);
  q = multiply_add(q, t, -0.06532779335975647F);
  q = multiply_add(q, t, 0.1309281438589096F);
  return x * multiply_add(inside, q, 0.5F);
}

// One output of one row; `sum` is the product without its bias.
template <class T>
__device__ __forceinline__ void finish_output(const LinearArgs& args, int row, int output, float sum) {
  float value = sum + args.bias[output];
  if (args.gelu) value = gelu(value);
  if (args.residual != nullptr)
    value += to_float(static_cast<const T*>(args.residual)[row * args.residual_stride + output]);
  const long long place = row * args.y_stride + output;
  if (args.y_is_full)
    static_cast<float*>(args.y)[place] = value;
  else
    store(static_cast<T*>(args.y) + place, value);
}

}  // namespace sotto::gpu
