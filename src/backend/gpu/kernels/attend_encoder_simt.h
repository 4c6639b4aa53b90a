#pragma once

#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/pieces.h"
#include "backend/gpu/kernels/reduce.h"

// Full attention inside a window without the matrix of all scores: a block keeps 64 queries and walks over
// the keys in tiles of 64, correcting its sums whenever a larger score turns up. A thread has 4 queries x 4
// keys of the scores and 4 queries x 4 elements of each half of the result; heads wider than 64 are worked on
// in two halves.
namespace sotto::gpu {

inline constexpr int kTileKeys = 64, kHalfHead = 64;

template <class T>
struct EncoderHead {
  const EncoderAttentionArgs& args;
  const T* window;  // the query part of the head in the window's first row
  int width, halves;
  bool wide;

  __device__ __forceinline__ explicit EncoderHead(const EncoderAttentionArgs& a) : args(a) {
    const T* qkv = static_cast<const T*>(a.qkv);
    window =
        qkv + static_cast<long long>(block_id_z()) * a.positions * a.qkv_stride + block_id_y() * a.head_width;
    width = a.heads * a.head_width;
    halves = (a.head_width + kHalfHead - 1) / kHalfHead;
    wide = a.head_width % kPiece == 0 && is_aligned(qkv, a.qkv_stride);
  }

  // Elements [64 half, 64 half + 64) of 64 positions, part 0: queries, 1: keys, 2: values; zeros where there
  // are none. Transposed: to[element][position], else to[position][element].
  template <bool Transposed>
  __device__ __forceinline__ void load_tile(int part, int first, int half, float factor,
                                            float (&to)[64][64]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      // Neighbouring threads write neighbouring words of the tile.
      const int at = thread_id() + i * static_cast<int>(kEncoderThreads);
      const int position = Transposed ? at % 64 : at / 8, element = (Transposed ? at / 64 : at % 8) * kPiece;
      float values[kPiece] = {};
      if (first + position < args.positions && half * kHalfHead + element < args.head_width)
        piece_of_row(window + (first + position) * args.qkv_stride + part * width, half * kHalfHead + element,
                     args.head_width, wide)
            .unpack(values);
#pragma unroll
      for (int j = 0; j < kPiece; ++j)
        (Transposed ? to[element + j][position] : to[position][element + j]) = values[j] * factor;
    }
  }
};

__device__ __forceinline__ void load_four(const float* from, float (&to)[4]) {
  Vec<float>::unpack(*reinterpret_cast<const Vec16*>(from), to);
}

template <class T>
__device__ __forceinline__ void attend_encoder_simt(const EncoderAttentionArgs& args) {
  alignas(16) __shared__ float queries[kHalfHead][kEncoderQueries];  // [element][query]
  alignas(16) __shared__ float keys[kHalfHead][kTileKeys];    // [element][key]; then weights [query][key]
  alignas(16) __shared__ float values[kTileKeys][kHalfHead];  // [key][element]
  const EncoderHead<T> head(args);
  const int across = thread_id() % 16, down = thread_id() / 16;
  const int first_query = block_id_x() * kEncoderQueries;
  const float factor = args.scale * kLog2E;

  float sums[2][4][4] = {}, largest[4], weights[4] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) largest[i] = kLowest;
  if (head.halves == 1) head.template load_tile<true>(0, first_query, 0, factor, queries);

  for (int first = 0; first < args.positions; first += kTileKeys) {
    float scores[4][4] = {};
    for (int half = 0; half < head.halves; ++half) {
      if (half > 0) barrier();
      if (head.halves > 1) head.template load_tile<true>(0, first_query, half, factor, queries);
      head.template load_tile<true>(1, first, half, 1.0F, keys);
      barrier();
#pragma unroll 8
      for (int d = 0; d < kHalfHead; ++d) {
        float a[4], b[4];
        load_four(&queries[d][down * 4], a);
        load_four(&keys[d][across * 4], b);
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
          for (int j = 0; j < 4; ++j) scores[i][j] = multiply_add(a[i], b[j], scores[i][j]);
      }
    }
    barrier();  // all have read the keys

#pragma unroll
    for (int i = 0; i < 4; ++i) {
      float best = kLowest;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (first + across * 4 + j >= args.positions) scores[i][j] = kLowest;
        best = larger(best, scores[i][j]);
      }
      best = larger(largest[i], team_max<16>(best));
      const float shrink = exp2_approximate(largest[i] - best);
      largest[i] = best;
      float sum = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        scores[i][j] = exp2_approximate(scores[i][j] - best);
        sum += scores[i][j];
      }
      weights[i] = multiply_add(weights[i], shrink, team_sum<16>(sum));
#pragma unroll
      for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[half][i][j] *= shrink;
      *reinterpret_cast<Vec16*>(&keys[down * 4 + i][across * 4]) = Vec<float>::pack(scores[i]);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (half < head.halves) {
        if (half > 0) barrier();
        head.template load_tile<false>(2, first, half, 1.0F, values);
        barrier();
#pragma unroll 4
        for (int key = 0; key < kTileKeys; key += 4) {
          float a[4][4];
#pragma unroll
          for (int i = 0; i < 4; ++i) load_four(&keys[down * 4 + i][key], a[i]);
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            float b[4];
            load_four(&values[key + k][across * 4], b);
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
              for (int j = 0; j < 4; ++j) sums[half][i][j] = multiply_add(a[i][k], b[j], sums[half][i][j]);
          }
        }
      }
    }
    barrier();  // all have read the weights and the values
  }

  T* out = static_cast<T*>(args.out) +
           static_cast<long long>(block_id_z()) * args.positions * args.out_stride +
           block_id_y() * args.head_width;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int query = first_query + down * 4 + i;
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int element = half * kHalfHead + across * 4 + j;
        if (query < args.positions && element < args.head_width)
          store(out + query * args.out_stride + element, sums[half][i][j] / weights[i]);
      }
  }
}

}  // namespace sotto::gpu
