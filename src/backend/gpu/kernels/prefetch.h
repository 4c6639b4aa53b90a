#pragma once

#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/vendor.h"

// What a kernel will read that the kernel before it does not write: it may come nearer while that one still
// works.
namespace sotto::gpu {

inline constexpr int kLine = 128;  // bytes that memory is brought nearer in

// All threads of the block together: `bytes` from here on.
__device__ __forceinline__ void prefetch_block(const void* from, long long bytes, int threads) {
  for (long long at = thread_id() * kLine; at < bytes; at += static_cast<long long>(threads) * kLine)
    prefetch_line(static_cast<const char*>(from) + at);
}

__device__ __forceinline__ void prepare_layer_norm(const LayerNormArgs& args) {
  prefetch_block(args.scale, args.width * 4LL, static_cast<int>(kNormThreads));
  prefetch_block(args.shift, args.width * 4LL, static_cast<int>(kNormThreads));
}

// Where there are few rows, waiting is what a step spends its time with; many would only push each other out.
inline constexpr int kFewRowsToPrefetch = 8;

template <class T>
__device__ __forceinline__ void prepare_attend_cross(const CrossAttentionArgs& args) {
  if (args.row_count > kFewRowsToPrefetch) return;
  const long long width = static_cast<long long>(args.heads) * args.head_width;
  const long long window = args.rows[block_id_z()].window;
  const T* head = static_cast<const T*>(args.cache) + window * args.positions * 2 * width +
                  block_id_x() * args.head_width;
  for (int i = thread_id(); i < 2 * kCrossChunk;
       i += static_cast<int>(kHeadThreads)) {  // keys and values in turn
    const int position = block_id_y() * kCrossChunk + i / 2;
    if (position < args.positions) prefetch_line(head + (position * 2 + i % 2) * width);
  }
}

}  // namespace sotto::gpu
