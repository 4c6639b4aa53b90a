#pragma once

// What follows the product in the tensor-core kernels, for 16-bit activations.
#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/element.h"

namespace sotto::gpu {

// gelu(x) = x (1 + erf(x / sqrt 2)) / 2. The error of erf is below 1e-6, far under what 16 bits can tell
// (1 - 1 / (1 + a1 x + ... + a6 x^6)^16, Abramowitz and Stegun 7.1.28, with the root of 2 taken into the
// factors).
__device__ __forceinline__ float gelu_for_16_bits(float x) {
  const float size = x < 0 ? -x : x;
  float sum = 0.0000053830F;
  sum = sum * size + 0.0000488906F;
  sum = sum * size + 0.0000380036F;
  sum = sum * size + 0.0032776263F;
  sum = sum * size + 0.0211410061F;
  sum = sum * size + 0.0498673470F;
  sum = sum * size + 1.0F;
  sum *= sum;
  sum *= sum;
  sum *= sum;
  sum *= sum;
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(sum));
  return (x > 0 ? x : 0.0F) - 0.5F * size * inverse;
}

// Two neighbouring outputs of one row, `output` being even.
template <class T>
__device__ __forceinline__ void write_pair(const LinearArgs& args, long long row, int output, float low,
                                           float high) {
  if (args.gelu) {
    low = gelu_for_16_bits(low);
    high = gelu_for_16_bits(high);
  }
  if (args.residual != nullptr) {
    float before_low, before_high;
    Pair<T>::unpack(*reinterpret_cast<const unsigned*>(static_cast<const unsigned short*>(args.residual) +
                                                       row * args.residual_stride + output),
                    before_low, before_high);
    low += before_low;
    high += before_high;
  }
  *reinterpret_cast<unsigned*>(static_cast<unsigned short*>(args.y) + row * args.y_stride + output) =
      Pair<T>::pack(low, high);
}

}  // namespace sotto::gpu
