#pragma once

#include "backend/gpu/kernels/element.h"

// Sums and maxima over threads. The order is fixed by the number of threads alone.
namespace sotto::gpu {

inline constexpr float kLowest = -__builtin_huge_valf();
inline constexpr float kLog2E = 1.44269504088896341F, kLn2 = 0.693147180559945309F;

// Over groups of `Width` neighbouring threads of a team; every thread gets the same result.
template <int Width = 32>
__device__ __forceinline__ float team_sum(float value) {
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
  return value;
}
template <int Width = 32>
__device__ __forceinline__ float team_max(float value) {
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2) value = larger(value, shuffle_xor(value, mask));
  return value;
}

// Over a block of `Threads`; every thread gets the same result. All threads must call.
template <int Threads>
__device__ __forceinline__ float block_sum(float value) {
  __shared__ float sums[Threads / 32];
  value = team_sum(value);
  barrier();  // nobody reads the last call's sums any more
  if (thread_id() % 32 == 0) sums[thread_id() / 32] = value;
  barrier();
  float total = sums[0];
#pragma unroll
  for (int i = 1; i < Threads / 32; ++i) total += sums[i];
  return total;
}
template <int Threads>
__device__ __forceinline__ float block_max(float value) {
  __shared__ float maxima[Threads / 32];
  value = team_max(value);
  barrier();
  if (thread_id() % 32 == 0) maxima[thread_id() / 32] = value;
  barrier();
  float largest = maxima[0];
#pragma unroll
  for (int i = 1; i < Threads / 32; ++i) largest = larger(largest, maxima[i]);
  return largest;
}

// True in every thread of the block that comes last of `blocks` to this counter, which it leaves at zero.
// What the other blocks wrote before is then visible.
__device__ __forceinline__ bool is_last_block(unsigned* counter, int blocks) {
  __shared__ int last;
  device_fence();
  barrier();
  if (thread_id() == 0) {
    last = atomic_add(counter, 1U) == static_cast<unsigned>(blocks) - 1U;
    if (last) *counter = 0;
  }
  barrier();
  device_fence();
  return last != 0;
}

}  // namespace sotto::gpu
