#pragma once

// Many rows times a matrix with warp-wide matrix instructions (sm_80 and later). A block of eight warps makes
// a tile of 128 rows x 128 outputs, each warp 64 x 32 of it; 32 inputs at a time of both operands wait in a
// ring of stages. Rows of a stage are 64 bytes; their 16-byte pieces are shuffled so that eight rows' pieces
// lie in different banks.
#include "backend/gpu/kernels/tensor_core.h"
#include "backend/gpu/kernels/tensor_core_epilogue.h"
#include "backend/gpu/kernels/tensor_core_shapes.h"

namespace sotto::gpu::mma_linear {

__device__ __forceinline__ unsigned piece_address(unsigned tile, int row, int piece) {
  return tile + row * 64 + ((piece ^ (row >> 1 & 3)) << 4);
}

// 128 rows of 32 inputs; what lies outside is zero.
__device__ __forceinline__ void copy_operand(unsigned tile, const unsigned short* source, Stride stride,
                                             int first_row, int rows, int input, int inputs) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int index = thread_id() + i * kThreads, row = index / 4, piece = index % 4;
    const int from = first_row + row, column = input + piece * 8;
    const bool valid = from < rows && column < inputs;
    copy_async(piece_address(tile, row, piece), source + (valid ? from * stride + column : 0), valid);
  }
}

template <class T>
__device__ __forceinline__ void multiply_stage(float (&sums)[4][4][4], unsigned x_tile, unsigned weight_tile,
                                               int warp_row, int warp_output) {
  const int lane = thread_id() % 32;
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    unsigned a[4][4], b[2][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      load_matrices(a[i], piece_address(x_tile, warp_row + i * 16 + lane % 16, part * 2 + lane / 16));
#pragma unroll
    for (int j = 0; j < 2; ++j)
      load_matrices(b[j], piece_address(weight_tile, warp_output + j * 16 + lane % 8 + lane / 16 * 8,
                                        part * 2 + lane / 8 % 2));
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply<T>(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
  }
}

template <class T>
__device__ __forceinline__ void run(const LinearArgs& args, unsigned shared) {
  const int first_output = block_id_x() * kOutputs, first_row = block_id_y() * kRows;
  const auto* x = static_cast<const unsigned short*>(args.x);
  const auto* weights = static_cast<const unsigned short*>(args.weights);
  const int steps = (args.inputs + kInputs - 1) / kInputs;
  const auto fetch = [&](int step) {
    if (step < steps) {
      const unsigned stage = shared + step % kStages * kStageBytes;
      copy_operand(stage, x, args.x_stride, first_row, args.rows, step * kInputs, args.inputs);
      copy_operand(stage + kOperandBytes, weights, args.padded_inputs, first_output, args.outputs,
                   step * kInputs, args.inputs);
    }
    commit_copies();
  };
  wait_for_previous_kernel();
  let_next_kernel_begin();
  for (int step = 0; step < kStages - 1; ++step) fetch(step);

  const int warp = thread_id() / 32, lane = thread_id() % 32;
  const int warp_row = warp / 4 * 64, warp_output = warp % 4 * 32;
  float sums[4][4][4] = {};
  for (int step = 0; step < steps; ++step) {
    wait_copies<kStages - 2>();
    barrier();
    fetch(step + kStages - 1);
    const unsigned stage = shared + step % kStages * kStageBytes;
    multiply_stage<T>(sums, stage, stage + kOperandBytes, warp_row, warp_output);
  }

#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const int output = first_output + warp_output + j * 8 + lane % 4 * 2;
    if (output >= args.outputs) continue;
    const float low = args.bias[output], high = args.bias[output + 1];
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = first_row + warp_row + i * 16 + half * 8 + lane / 4;
        if (row < args.rows)
          write_pair<T>(args, row, output, sums[i][j][half * 2] + low, sums[i][j][half * 2 + 1] + high);
      }
  }
}

}  // namespace sotto::gpu::mma_linear
