#pragma once

#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/vendor.h"

// What a kernel will read that the kernel before it does not write: it may come nearer while that one still
// works.
namespace sotto::gpu {

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
