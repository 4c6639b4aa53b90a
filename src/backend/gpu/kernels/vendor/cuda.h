#pragma once

// NVIDIA: for nvcc, and for clang's NVPTX target without any CUDA header (-nocudainc -nocudalib), from sm_75
// on. Inline PTX where the compilers' own names differ.
#if !defined(__NVCC__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif

namespace sotto::gpu {

// 16 bytes that one instruction loads or stores; members x, y, z, w.
#if defined(__NVCC__)
using Vec16 = uint4;
#else
using Vec16 = unsigned __attribute__((ext_vector_type(4)));
#endif

// --- where a thread is ---
#if defined(__NVCC__)
__device__ __forceinline__ int thread_id() {
  return static_cast<int>(threadIdx.x);
}
__device__ __forceinline__ int block_id_x() {
  return static_cast<int>(blockIdx.x);
}
__device__ __forceinline__ int block_id_y() {
  return static_cast<int>(blockIdx.y);
}
__device__ __forceinline__ int block_id_z() {
  return static_cast<int>(blockIdx.z);
}
__device__ __forceinline__ int block_count_x() {
  return static_cast<int>(gridDim.x);
}
#else
__device__ __forceinline__ int thread_id() {
  return __nvvm_read_ptx_sreg_tid_x();
}
__device__ __forceinline__ int block_id_x() {
  return __nvvm_read_ptx_sreg_ctaid_x();
}
__device__ __forceinline__ int block_id_y() {
  return __nvvm_read_ptx_sreg_ctaid_y();
}
__device__ __forceinline__ int block_id_z() {
  return __nvvm_read_ptx_sreg_ctaid_z();
}
__device__ __forceinline__ int block_count_x() {
  return __nvvm_read_ptx_sreg_nctaid_x();
}
#endif

// --- threads of a block together ---
__device__ __forceinline__ void barrier() {
#if defined(__NVCC__)
  __syncthreads();
#else
  __nvvm_bar_sync(0);
#endif
}

// For teams of 32 neighbouring threads; all 32 must take part, and mask is a power of two.
__device__ __forceinline__ unsigned shuffle_xor(unsigned value, int mask) {
  unsigned result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(result) : "r"(value), "r"(mask));
  return result;
}

// Several at a time.
template <int Count>
__device__ __forceinline__ void shuffle_xor(unsigned (&values)[Count], int mask) {
#pragma unroll
  for (int i = 0; i < Count; ++i) values[i] = shuffle_xor(values[i], mask);
}

// --- blocks of a grid together ---
__device__ __forceinline__ unsigned atomic_add(unsigned* address, unsigned value) {
  unsigned before;
  asm volatile("atom.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(address), "r"(value) : "memory");
  return before;
}
// What was written before is seen by whoever sees what is written after, and the other way round.
__device__ __forceinline__ void device_fence() {
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

// --- kernels of a stream that follow each other ---
// Where the launch allows it (sm_90 and later), a kernel may begin before the one before it has ended; what
// that one writes may only be touched after this wait. Every kernel of ours waits, so an order of three holds
// too.
__device__ __forceinline__ void wait_for_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void let_next_kernel_begin() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// --- arithmetic ---
__device__ __forceinline__ float bits_to_float(unsigned bits) {
  float value;
  asm("mov.b32 %0, %1;" : "=f"(value) : "r"(bits));
  return value;
}
__device__ __forceinline__ unsigned float_to_bits(float value) {
  unsigned bits;
  asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}
__device__ __forceinline__ float multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
__device__ __forceinline__ float larger(float a, float b) {  // the other one where one is not a number
  return __builtin_fmaxf(a, b);
}
__device__ __forceinline__ float square_root(float x) {
  float y;
  asm("sqrt.rn.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// Relative errors of about 2^-22.
__device__ __forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float log2_approximate(float x) {
  float y;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// --- 16-bit floats: two in one word, the first in the low half; rounding to nearest even ---
__device__ __forceinline__ float half_to_float(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
__device__ __forceinline__ unsigned short float_to_half(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}
__device__ __forceinline__ unsigned floats_to_halves(float first, float second) {
#if __CUDA_ARCH__ >= 800
  unsigned bits;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
#else
  return float_to_half(first) | static_cast<unsigned>(float_to_half(second)) << 16;
#endif
}
__device__ __forceinline__ unsigned floats_to_bfloats(float first, float second) {
#if __CUDA_ARCH__ >= 800
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
  return bits;
#else
  const auto round = [](float value) {
    const unsigned bits = float_to_bits(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fffU;  // not a number
    return (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  };
  return round(first) | round(second) << 16;
#endif
}
__device__ __forceinline__ unsigned short float_to_bfloat(float value) {
  return static_cast<unsigned short>(floats_to_bfloats(value, 0.0F));
}

// --- memory ---
// Brings what lies there nearer; the address must be valid.
__device__ __forceinline__ void prefetch_line(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}
// Data that this grid reads once: past the first-level cache. Only for what no kernel of this launch writes.
__device__ __forceinline__ Vec16 load_once(const Vec16* address) {
  unsigned x, y, z, w;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
               : "l"(address));
  Vec16 v;
  v.x = x;
  v.y = y;
  v.z = z;
  v.w = w;
  return v;
}
// The same, or zeros; without a branch, so that many such loads can be under way.
__device__ __forceinline__ Vec16 load_once_if(bool wanted, const Vec16* address) {
  unsigned x = 0, y = 0, z = 0, w = 0;
  asm volatile(
      "{\n .reg .pred p;\n setp.ne.u32 p, %5, 0;\n"
      " @p ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n}"
      : "+r"(x), "+r"(y), "+r"(z), "+r"(w)
      : "l"(address), "r"(static_cast<unsigned>(wanted)));
  Vec16 v;
  v.x = x;
  v.y = y;
  v.z = z;
  v.w = w;
  return v;
}

}  // namespace sotto::gpu
