#pragma once

// Full attention inside a window with warp-wide matrix instructions, for heads of 64. A block of four warps
// takes 128 queries of one head, a warp 32 of them, and walks over the keys and values, 64 at a time, in a
// fixed order; the products of queries and keys live in registers only. Rows of a tile are 128 bytes; their
// 16-byte pieces are shuffled so that eight rows' pieces lie in different banks.
#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/tensor_core.h"
#include "backend/gpu/kernels/tensor_core_shapes.h"

namespace sotto::gpu::attention_mma {

__device__ __forceinline__ unsigned piece_address(unsigned tile, int row, int piece) {
  return tile + row * 128 + ((piece ^ (row & 7)) << 4);
}

// Rows of 64 elements; those from `rows` on are zero.
template <int Count>
__device__ __forceinline__ void copy_tile(unsigned tile, const unsigned short* source, Stride stride,
                                          int first, int rows) {
#pragma unroll
  for (int i = 0; i < Count * 8 / kThreads; ++i) {
    const int index = thread_id() + i * kThreads, row = index / 8, piece = index % 8;
    const bool valid = first + row < rows;
    copy_async(piece_address(tile, row, piece), source + (valid ? (first + row) * stride + piece * 8 : 0),
               valid);
  }
}

__device__ __forceinline__ float quad_max(float value) {
  value = larger(value, shuffle_xor(value, 1));
  return larger(value, shuffle_xor(value, 2));
}
__device__ __forceinline__ float quad_sum(float value) {
  value += shuffle_xor(value, 1);
  return value + shuffle_xor(value, 2);
}

template <class T>
__device__ __forceinline__ void run(const EncoderAttentionArgs& args, unsigned shared) {
  const int warp = thread_id() / 32, lane = thread_id() % 32;
  const int first_query = block_id_x() * kQueries, head = block_id_y(), window = block_id_z();
  const int width = args.heads * kWidth;
  const auto* queries = static_cast<const unsigned short*>(args.qkv) +
                        static_cast<long long>(window) * args.positions * args.qkv_stride + head * kWidth;
  const auto *keys = queries + width, *values = keys + width;
  const int tiles = (args.positions + kKeys - 1) / kKeys;

  wait_for_previous_kernel();
  let_next_kernel_begin();
  // The queries pass through the shared memory that will hold the keys and values.
  copy_tile<kQueries>(shared, queries, args.qkv_stride, first_query, args.positions);
  commit_copies();
  wait_copies<0>();
  barrier();
  unsigned q[2][4][4];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int part = 0; part < 4; ++part)
      load_matrices(q[i][part], piece_address(shared, warp * 32 + i * 16 + lane % 16, part * 2 + lane / 16));
  barrier();

  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      const unsigned stage = shared + tile % kStages * 2 * kTileBytes;
      copy_tile<kKeys>(stage, keys, args.qkv_stride, tile * kKeys, args.positions);
      copy_tile<kKeys>(stage + kTileBytes, values, args.qkv_stride, tile * kKeys, args.positions);
    }
    commit_copies();
  };
  fetch(0);

  const float factor = args.scale * 1.4426950408889634F;  // exp(x) = exp2(x log2 e)
  constexpr float kLowest = -1e30F;
  float out[2][8][4] = {}, largest[2][2] = {{kLowest, kLowest}, {kLowest, kLowest}}, total[2][2] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + 1);
    wait_copies<1>();
    barrier();
    const unsigned stage = shared + tile % kStages * 2 * kTileBytes;
    float scores[2][8][4] = {};
#pragma unroll
    for (int part = 0; part < 4; ++part)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        unsigned b[4];  // 16 keys
        load_matrices(b, piece_address(stage, j * 16 + lane % 8 + lane / 16 * 8, part * 2 + lane / 8 % 2));
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          multiply<T>(scores[i][j * 2], q[i][part], b[0], b[1]);
          multiply<T>(scores[i][j * 2 + 1], q[i][part], b[2], b[3]);
        }
      }
    const int left = args.positions - tile * kKeys;
    if (left < kKeys) {
#pragma unroll
      for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          if (j * 8 + lane % 4 * 2 + e % 2 >= left) scores[0][j][e] = scores[1][j][e] = kLowest;
    }

    // Weights are exp2((score - largest) * factor); what was summed before is scaled to the new largest
    // score.
    unsigned p[2][4][4];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float top = largest[i][half];
#pragma unroll
        for (int j = 0; j < 8; ++j)
          top = larger(top, larger(scores[i][j][half * 2], scores[i][j][half * 2 + 1]));
        top = quad_max(top);
        const float shrink = exp2_approximate((largest[i][half] - top) * factor), base = top * factor;
        largest[i][half] = top;
        float sum = 0;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
#pragma unroll
          for (int e = half * 2; e < half * 2 + 2; ++e) {
            scores[i][j][e] = exp2_approximate(multiply_add(scores[i][j][e], factor, -base));
            sum += scores[i][j][e];
            out[i][j][e] *= shrink;
          }
        }
        total[i][half] = total[i][half] * shrink + sum;
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        p[i][j][0] = Pair<T>::pack(scores[i][j * 2][0], scores[i][j * 2][1]);
        p[i][j][1] = Pair<T>::pack(scores[i][j * 2][2], scores[i][j * 2][3]);
        p[i][j][2] = Pair<T>::pack(scores[i][j * 2 + 1][0], scores[i][j * 2 + 1][1]);
        p[i][j][3] = Pair<T>::pack(scores[i][j * 2 + 1][2], scores[i][j * 2 + 1][3]);
      }
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)  // 16 keys
#pragma unroll
      for (int part = 0; part < 4; ++part) {  // 16 of the head's values
        unsigned b[4];
        load_matrices_transposed(b,
                                 piece_address(stage + kTileBytes, j * 16 + lane % 16, part * 2 + lane / 16));
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          multiply<T>(out[i][part * 2], p[i][j], b[0], b[1]);
          multiply<T>(out[i][part * 2 + 1], p[i][j], b[2], b[3]);
        }
      }
    barrier();  // all are done with the stage that the next fetch writes
  }

#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int query = first_query + warp * 32 + i * 16 + half * 8 + lane / 4;
      const float inverse = 1.0F / quad_sum(total[i][half]);
      if (query >= args.positions) continue;
      auto* to = static_cast<unsigned short*>(args.out) +
                 (static_cast<long long>(window) * args.positions + query) * args.out_stride + head * kWidth +
                 lane % 4 * 2;
#pragma unroll
      for (int j = 0; j < 8; ++j)
        *reinterpret_cast<unsigned*>(to + j * 8) =
            Pair<T>::pack(out[i][j][half * 2] * inverse, out[i][j][half * 2 + 1] * inverse);
    }
}

}  // namespace sotto::gpu::attention_mma
