#pragma once

// Hopper's own instructions (sm_90a): barriers in shared memory that count bytes, tensor copies, and matrix
// products of a warpgroup (128 threads) straight from shared memory.
#include "backend/gpu/kernels/tensor_core.h"
#include "backend/gpu/kernels/tensor_core_shapes.h"

namespace sotto::gpu::hopper {

// --- barriers ---
__device__ inline void barrier_init(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}
__device__ inline void barrier_expect(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ inline void barrier_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void barrier_wait(unsigned barrier, unsigned parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra end;\n"
      "bra again;\n"
      "end:\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void fence_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// A place in a ring that is gone round again and again; the parity tells the rounds apart.
template <int Stages>
struct Ring {
  int stage = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == Stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// --- tensor copies: a box of a two-dimensional tensor whose corner is (x, y), in elements ---
__device__ inline void prefetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
__device__ inline void copy_box(unsigned target, const TensorMap* map, int x, int y, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4}], [%2];" ::"r"(target),
      "l"(map), "r"(barrier), "r"(x), "r"(y)
      : "memory");
}
__device__ inline void store_box(const TensorMap* map, int x, int y, unsigned source) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
               "r"(source), "r"(x), "r"(y)
               : "memory");
}
__device__ inline void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int Pending>
__device__ inline void wait_stores_read() {  // the source may be written again
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

template <int Pending>
__device__ inline void wait_stores() {  // they are done
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

// --- registers of a warpgroup ---
template <int Count>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Count));
}
template <int Count>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Count));
}

// --- products ---
// A tile of 64-element (128-byte) rows, swizzled in groups of eight rows, as the tensor copies leave it. The
// tile begins at a multiple of 1024 bytes; moving by 16 elements along a row adds 32 bytes to the address.
__device__ inline unsigned long long swizzled_tile(unsigned address) {
  constexpr unsigned long long kStrideOfEightRows = 1024 >> 4, kSwizzle128 = 1;
  return (static_cast<unsigned long long>(address & 0x3FFFF) >> 4) | (1ull << 16) |
         (kStrideOfEightRows << 32) | (kSwizzle128 << 62);
}

__device__ inline void products_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ inline void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

#include "backend/gpu/kernels/hopper_products.inc"

}  // namespace sotto::gpu::hopper
