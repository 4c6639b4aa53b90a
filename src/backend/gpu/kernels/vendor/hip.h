#pragma once

// AMD: for the clang inside hipcc, without HIP's headers and device libraries (-nogpuinc -nogpulib). The
// kernels work in teams of 32 threads, so waves of 32 and of 64 run the same source.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(threads, blocks) __attribute__((amdgpu_flat_work_group_size(threads, threads)))

namespace sotto::gpu {

// 16 bytes that one instruction loads or stores; members x, y, z, w.
using Vec16 = unsigned __attribute__((ext_vector_type(4)));

// --- where a thread is ---
__device__ __forceinline__ int thread_id() {
  return static_cast<int>(__builtin_amdgcn_workitem_id_x());
}
__device__ __forceinline__ int block_id_x() {
  return static_cast<int>(__builtin_amdgcn_workgroup_id_x());
}
__device__ __forceinline__ int block_id_y() {
  return static_cast<int>(__builtin_amdgcn_workgroup_id_y());
}
__device__ __forceinline__ int block_id_z() {
  return static_cast<int>(__builtin_amdgcn_workgroup_id_z());
}
__device__ __forceinline__ int block_count_x() {
  return static_cast<int>(__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x());
}

// --- threads of a block together ---
__device__ __forceinline__ void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// For teams of 32 neighbouring threads; all 32 must take part, and mask is a power of two.
__device__ __forceinline__ unsigned shuffle_xor(unsigned value, int mask) {
  // The instruction's own code for (lane & 0x1f) ^ mask, in each half of a wave of 64.
  constexpr int kAllLanes = 0x1f;
  const int bits = static_cast<int>(value);
  switch (mask) {  // known when this is compiled
    case 1:
      return static_cast<unsigned>(__builtin_amdgcn_ds_swizzle(bits, 1 << 10 | kAllLanes));
    case 2:
      return static_cast<unsigned>(__builtin_amdgcn_ds_swizzle(bits, 2 << 10 | kAllLanes));
    case 4:
      return static_cast<unsigned>(__builtin_amdgcn_ds_swizzle(bits, 4 << 10 | kAllLanes));
    case 8:
      return static_cast<unsigned>(__builtin_amdgcn_ds_swizzle(bits, 8 << 10 | kAllLanes));
    default:  // 16
      return static_cast<unsigned>(__builtin_amdgcn_ds_swizzle(bits, 16 << 10 | kAllLanes));
  }
}

// Several at a time.
template <int Count>
__device__ __forceinline__ void shuffle_xor(unsigned (&values)[Count], int mask) {
#pragma unroll
  for (int i = 0; i < Count; ++i) values[i] = shuffle_xor(values[i], mask);
}

// --- blocks of a grid together ---
__device__ __forceinline__ unsigned atomic_add(unsigned* address, unsigned value) {
  return __hip_atomic_fetch_add(address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
// What was written before is seen by whoever sees what is written after, and the other way round.
__device__ __forceinline__ void device_fence() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");
}

// --- kernels of a stream that follow each other: here each waits for the one before ---
__device__ __forceinline__ void wait_for_previous_kernel() {}
__device__ __forceinline__ void let_next_kernel_begin() {}

// --- arithmetic ---
__device__ __forceinline__ float bits_to_float(unsigned bits) {
  return __builtin_bit_cast(float, bits);
}
__device__ __forceinline__ unsigned float_to_bits(float value) {
  return __builtin_bit_cast(unsigned, value);
}
__device__ __forceinline__ float multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
__device__ __forceinline__ float larger(float a, float b) {  // the other one where one is not a number
  return __builtin_fmaxf(a, b);
}
__device__ __forceinline__ float square_root(float x) {
  return __builtin_sqrtf(x);
}
// Relative errors of about 2^-22.
__device__ __forceinline__ float exp2_approximate(float x) {
  return __builtin_exp2f(x);
}
__device__ __forceinline__ float log2_approximate(float x) {
  return __builtin_log2f(x);
}

// --- 16-bit floats: two in one word, the first in the low half; rounding to nearest even ---
__device__ __forceinline__ float half_to_float(unsigned short bits) {
  return static_cast<float>(__builtin_bit_cast(_Float16, bits));
}
__device__ __forceinline__ unsigned short float_to_half(float value) {
  return __builtin_bit_cast(unsigned short, static_cast<_Float16>(value));
}
__device__ __forceinline__ unsigned floats_to_halves(float first, float second) {
  return float_to_half(first) | static_cast<unsigned>(float_to_half(second)) << 16;
}
__device__ __forceinline__ unsigned short float_to_bfloat(float value) {
  const unsigned bits = float_to_bits(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fffU;  // not a number
  return static_cast<unsigned short>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}
__device__ __forceinline__ unsigned floats_to_bfloats(float first, float second) {
  return float_to_bfloat(first) | static_cast<unsigned>(float_to_bfloat(second)) << 16;
}

// --- memory ---
// Nothing here: kernels do not overlap.
__device__ __forceinline__ void prefetch_line(const void*) {}
// Data that this grid reads once. Only for what no kernel of this launch writes.
__device__ __forceinline__ Vec16 load_once(const Vec16* address) {
  return __builtin_nontemporal_load(address);
}
// The same, or zeros.
__device__ __forceinline__ Vec16 load_once_if(bool wanted, const Vec16* address) {
  if (wanted) return load_once(address);
  return {0, 0, 0, 0};
}

}  // namespace sotto::gpu
