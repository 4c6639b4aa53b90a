#pragma once

#include "backend/gpu/kernels/epilogue.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/pieces.h"

// A few rows times a matrix: the weights are read once and at full width; a block takes 4 outputs of up to 8
// rows, its threads share out the inputs. W is T or int8, x is T.
namespace sotto::gpu {

// Adds up 2 Half values over the threads of a team: thread i returns the sum of everybody's value i.
template <int Half>
__device__ __forceinline__ float transposed_sum(float (&values)[2 * Half]) {
  const bool upper = (thread_id() & Half) != 0;
  float rest[Half], given[Half];
#pragma unroll
  for (int i = 0; i < Half; ++i) {
    const float low = values[i], high = values[i + Half];
    rest[i] = upper ? high : low;
    given[i] = upper ? low : high;
  }
  shuffle_xor(given, Half);
#pragma unroll
  for (int i = 0; i < Half; ++i) rest[i] += given[i];
  if constexpr (Half > 1)
    return transposed_sum<Half / 2>(rest);
  else
    return rest[0];
}

template <class T, class W>
__device__ __forceinline__ void add_products(const LinearArgs& args, const T* x, const W* weights, int rows,
                                             int outputs, float (&sums)[kFewOutputs * kFewRows]) {
  const bool wide = is_aligned(x, args.x_stride);
  const int pieces = args.padded_inputs / kPiece;
  for (int piece = thread_id(); piece < pieces; piece += static_cast<int>(kFewThreads)) {
    const int at = piece * kPiece;
    Piece<W> raw[kFewOutputs];
#pragma unroll
    for (int o = 0; o < kFewOutputs; ++o)
      raw[o] = o < outputs ? Piece<W>::load(weights + static_cast<long long>(o) * args.padded_inputs + at)
                           : Piece<W>::zero();
    float w[kFewOutputs][kPiece];
#pragma unroll
    for (int o = 0; o < kFewOutputs; ++o) raw[o].unpack(w[o]);
#pragma unroll
    for (int r = 0; r < kFewRows; ++r) {
      if (r < rows) {
        float values[kPiece];
        piece_of_row(x + r * args.x_stride, at, args.inputs, wide).unpack(values);
#pragma unroll
        for (int o = 0; o < kFewOutputs; ++o)
#pragma unroll
          for (int i = 0; i < kPiece; ++i)
            sums[o * kFewRows + r] = multiply_add(values[i], w[o][i], sums[o * kFewRows + r]);
      }
    }
  }
}

template <class T, class W>
__device__ __forceinline__ void linear_few_simt(const LinearArgs& args) {
  constexpr int kTeams = static_cast<int>(kFewThreads) / 32;
  __shared__ float team_sums[kTeams][kFewOutputs * kFewRows];
  const int row_groups = (args.rows + kFewRows - 1) / kFewRows;
  const int first_row = block_id_x() % row_groups * kFewRows,
            first_output = block_id_x() / row_groups * kFewOutputs;
  float sums[kFewOutputs * kFewRows] = {};
  add_products(
      args, static_cast<const T*>(args.x) + first_row * args.x_stride,
      static_cast<const W*>(args.weights) + static_cast<long long>(first_output) * args.padded_inputs,
      args.rows - first_row, args.outputs - first_output, sums);
  const int lane = thread_id() % 32;
  team_sums[thread_id() / 32][lane] = transposed_sum<16>(sums);
  barrier();
  const int row = first_row + lane % kFewRows, output = first_output + lane / kFewRows;
  if (thread_id() >= 32 || row >= args.rows || output >= args.outputs) return;
  float sum = team_sums[0][lane];
#pragma unroll
  for (int team = 1; team < kTeams; ++team) sum += team_sums[team][lane];
  if constexpr (sizeof(W) == 1) sum *= args.scales[output];
  finish_output<T>(args, row, output, sum);
}

}  // namespace sotto::gpu
