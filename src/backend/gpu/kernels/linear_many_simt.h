#pragma once

#include "backend/gpu/kernels/epilogue.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/pieces.h"

// Many rows times a matrix on plain arithmetic units: a block computes a tile of 128 x 128 with 8 x 8 in the
// registers of each thread. Every sum runs over the inputs in order.
namespace sotto::gpu {

inline constexpr int kManyStep =
    16;  // inputs at a time: each thread brings one piece of x and one of the weights

template <class T>
struct ManyTile {
  const LinearArgs& args;
  int first_row, first_output;
  int line, column;  // what this thread brings: a row and an output of the tile, and the first of 8 inputs
  bool wide;
  const T* x_line;
  const T* weight_line;
  Piece<T> x_piece, weight_piece;

  __device__ __forceinline__ explicit ManyTile(const LinearArgs& a)
      : args(a), first_row(block_id_y() * kManyTile), first_output(block_id_x() * kManyTile) {
    line = thread_id() % kManyTile;
    column = thread_id() / kManyTile * kPiece;
    const T* x = static_cast<const T*>(a.x);
    wide = is_aligned(x, a.x_stride);
    x_line = first_row + line < a.rows ? x + (first_row + line) * a.x_stride : nullptr;
    weight_line =
        first_output + line < a.outputs
            ? static_cast<const T*>(a.weights) + static_cast<long long>(first_output + line) * a.padded_inputs
            : nullptr;
  }

  __device__ __forceinline__ void fetch(int step) {
    const int at = step * kManyStep + column;
    x_piece = x_line != nullptr && at < args.inputs ? piece_of_row(x_line, at, args.inputs, wide)
                                                    : Piece<T>::zero();
    weight_piece = weight_line != nullptr && at < args.padded_inputs ? Piece<T>::load(weight_line + at)
                                                                     : Piece<T>::zero();
  }

  __device__ __forceinline__ void put(float (&xs)[kManyStep][kManyTile],
                                      float (&weights)[kManyStep][kManyTile]) const {
    float values[kPiece];
    x_piece.unpack(values);
#pragma unroll
    for (int i = 0; i < kPiece; ++i) xs[column + i][line] = values[i];
    weight_piece.unpack(values);
#pragma unroll
    for (int i = 0; i < kPiece; ++i) weights[column + i][line] = values[i];
  }
};

// 8 of 128 neighbouring values: 4 in each half, so that neighbouring threads read neighbouring 16 bytes.
__device__ __forceinline__ void load_eight(const float (&from)[kManyTile], int place, float (&to)[8]) {
  float low[4], high[4];
  Vec<float>::unpack(*reinterpret_cast<const Vec16*>(from + place * 4), low);
  Vec<float>::unpack(*reinterpret_cast<const Vec16*>(from + kManyTile / 2 + place * 4), high);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[i] = low[i];
    to[4 + i] = high[i];
  }
}
__device__ __forceinline__ int one_of_eight(int place, int i) {
  return i < 4 ? place * 4 + i : kManyTile / 2 + place * 4 + i - 4;
}

template <class T>
__device__ __forceinline__ void linear_many_simt(const LinearArgs& args) {
  alignas(16) __shared__ float xs[2][kManyStep][kManyTile];
  alignas(16) __shared__ float weights[2][kManyStep][kManyTile];
  ManyTile<T> tile(args);
  const int across = thread_id() % 16, down = thread_id() / 16;
  float sums[8][8] = {};

  const int steps = (args.inputs + kManyStep - 1) / kManyStep;
  tile.fetch(0);
  tile.put(xs[0], weights[0]);
  barrier();
  for (int step = 0; step < steps; ++step) {
    const int now = step % 2;
    if (step + 1 < steps) tile.fetch(step + 1);
#pragma unroll 4
    for (int k = 0; k < kManyStep; ++k) {
      float a[8], b[8];
      load_eight(xs[now][k], down, a);
      load_eight(weights[now][k], across, b);
#pragma unroll
      for (int i = 0; i < 8; ++i)
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] = multiply_add(a[i], b[j], sums[i][j]);
    }
    if (step + 1 < steps) tile.put(xs[1 - now], weights[1 - now]);
    barrier();
  }

#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int row = tile.first_row + one_of_eight(down, i);
      const int output = tile.first_output + one_of_eight(across, j);
      if (row < args.rows && output < args.outputs) finish_output<T>(args, row, output, sums[i][j]);
    }
}

}  // namespace sotto::gpu
