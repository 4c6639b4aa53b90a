#pragma once

#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/pieces.h"
#include "backend/gpu/kernels/reduce.h"

namespace sotto::gpu {

// One row by a team of 32 threads. Up to 1280 values stay in the registers; a wider row's rest is read again.
template <class T>
struct NormRow {
  static constexpr int kKept = 5;  // pieces per thread
  const T* row;
  int width, pieces;
  bool wide;
  Piece<T> kept[kKept];

  __device__ __forceinline__ NormRow(const T* from, int row_width, bool is_wide)
      : row(from), width(row_width), pieces((row_width + kPiece - 1) / kPiece), wide(is_wide) {
#pragma unroll
    for (int i = 0; i < kKept; ++i) kept[i] = read(thread_id() % 32 + 32 * i);
  }
  __device__ __forceinline__ Piece<T> read(int piece) const {
    return piece < pieces ? piece_of_row(row, piece * kPiece, width, wide) : Piece<T>::zero();
  }

  // use(number, first index, 8 values) for each of this thread's pieces, in order.
  template <class Use>
  __device__ __forceinline__ void each(Use use) const {
    float values[kPiece];
    const int lane = thread_id() % 32;
#pragma unroll
    for (int i = 0; i < kKept; ++i) {
      if (lane + 32 * i >= pieces) return;
      kept[i].unpack(values);
      use(i, (lane + 32 * i) * kPiece, values);
    }
    for (int piece = lane + 32 * kKept; piece < pieces; piece += 32) {
      read(piece).unpack(values);
      use(kKept, piece * kPiece, values);
    }
  }
};

// A thread's part of the scale and the shift.
struct NormFactors {
  static constexpr int kKept = NormRow<float>::kKept;
  Piece<float> scale[kKept], shift[kKept];

  __device__ __forceinline__ void load(const LayerNormArgs& args, bool wide) {
#pragma unroll
    for (int i = 0; i < kKept; ++i) {
      const int at = (thread_id() % 32 + 32 * i) * kPiece;
      scale[i] = at < args.width ? piece_of_row(args.scale, at, args.width, wide) : Piece<float>::zero();
      shift[i] = at < args.width ? piece_of_row(args.shift, at, args.width, wide) : Piece<float>::zero();
    }
  }
};

// Ahead: scale and shift are on their way while the kernel before still works; it takes registers, which many
// rows would rather use for more of them at a time. The numbers are the same.
template <class T, bool Ahead>
__device__ __forceinline__ void layer_norm(const LayerNormArgs& args) {
  const bool wide_norm = is_aligned(args.scale, 0) && is_aligned(args.shift, 0);
  NormFactors factors;
  if constexpr (Ahead) {
    factors.load(args, wide_norm);
    wait_for_previous_kernel();
    let_next_kernel_begin();
  }
  const int index = block_id_x() * (static_cast<int>(kNormThreads) / 32) + thread_id() / 32;
  if (index >= args.rows) return;
  const T* x = static_cast<const T*>(args.x);
  T* y = static_cast<T*>(args.y);
  const NormRow<T> row(x + index * args.x_stride, args.width, is_aligned(x, args.x_stride));

  float sum = 0;
  row.each([&](int, int, const float(&values)[kPiece]) {
#pragma unroll
    for (int i = 0; i < kPiece; ++i) sum += values[i];
  });
  const float width = static_cast<float>(args.width);
  const float mean = team_sum(sum) / width;
  float squares = 0;
  row.each([&](int, int at, const float(&values)[kPiece]) {
#pragma unroll
    for (int i = 0; i < kPiece; ++i) {
      const float distance = at + i < args.width ? values[i] - mean : 0.0F;
      squares = multiply_add(distance, distance, squares);
    }
  });
  const float factor = 1.0F / square_root(team_sum(squares) / width + 1e-5F);

  const bool wide_out = is_aligned(y, args.y_stride);
  row.each([&](int number, int at, const float(&values)[kPiece]) {
    float scale[kPiece], shift[kPiece], out[kPiece];
    if (Ahead && number < NormFactors::kKept) {
      factors.scale[number].unpack(scale);
      factors.shift[number].unpack(shift);
    } else {
      piece_of_row(args.scale, at, args.width, wide_norm).unpack(scale);
      piece_of_row(args.shift, at, args.width, wide_norm).unpack(shift);
    }
#pragma unroll
    for (int i = 0; i < kPiece; ++i) out[i] = multiply_add((values[i] - mean) * factor, scale[i], shift[i]);
    store_piece(y + index * args.y_stride, at, args.width, wide_out, out);
  });
}

}  // namespace sotto::gpu
