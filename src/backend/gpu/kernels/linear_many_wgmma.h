#pragma once

// Many rows times a matrix on Hopper. One block a multiprocessor walks over tiles of 128 rows x Columns
// outputs.
//   warp 0           brings 64 inputs at a time of both operands into a ring of stages, by tensor copies
//   warp 1           brings the tile's residual into the result's buffer, and stores the finished result from
//   there warps 4 to 11    two warpgroups that multiply 64 rows each, and turn their sums into results
// Each output is summed over the inputs in order, 16 at a time, whatever the tile's width is: a row's numbers
// depend on nothing but the row.
#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/hopper.h"
#include "backend/gpu/kernels/tensor_core_epilogue.h"

namespace sotto::gpu {

namespace wgmma_linear {

template <int Columns>
struct Shape {
  static constexpr int kStages = stages(Columns), kStageBytes = stage_bytes(Columns), kBoxes = Columns / 64;
  static constexpr int kXBytes = kRows * kInputs * 2;
};

// What the roles of a block share.
template <int Columns>
struct Block {
  using S = Shape<Columns>;
  unsigned operands, result, full, empty, result_free, result_done;
  int column_tiles, tiles, steps;

  __device__ __forceinline__ Block(unsigned shared, const LinearArgs& args) {
    operands = (shared + 1023) & ~1023u;
    result = operands + S::kStages * S::kStageBytes;
    full = result + S::kBoxes * kBoxBytes;
    empty = full + S::kStages * 8;
    result_free = empty + S::kStages * 8;
    result_done = result_free + 8;
    column_tiles = (args.outputs + Columns - 1) / Columns;
    tiles = (args.rows + kRows - 1) / kRows * column_tiles;
    steps = (args.inputs + kInputs - 1) / kInputs;
  }
  __device__ __forceinline__ void init_barriers() const {
    for (int stage = 0; stage < S::kStages; ++stage) {
      hopper::barrier_init(full + stage * 8, 1);
      hopper::barrier_init(empty + stage * 8, 2);
    }
    hopper::barrier_init(result_free, 1);
    hopper::barrier_init(result_done, 256);
    hopper::fence_barrier_init();
  }
  __device__ __forceinline__ int row(int tile) const { return tile / column_tiles * kRows; }
  __device__ __forceinline__ int column(int tile) const { return tile % column_tiles * Columns; }
};

template <int Columns>
__device__ __forceinline__ void bring_operands(const WgmmaLinearArgs& args, const Block<Columns>& block) {
  using S = Shape<Columns>;
  hopper::Ring<S::kStages> ring;
  for (int tile = block_id_x(); tile < block.tiles; tile += block_count_x())
    for (int step = 0; step < block.steps; ++step, ring.advance()) {
      const unsigned full = block.full + ring.stage * 8, x = block.operands + ring.stage * S::kStageBytes;
      hopper::barrier_wait(block.empty + ring.stage * 8, ring.parity ^ 1);
      hopper::barrier_expect(full, S::kStageBytes);
      hopper::copy_box(x, &args.x, step * kInputs, block.row(tile), full);
      hopper::copy_box(x + S::kXBytes, &args.weights, step * kInputs, block.column(tile), full);
    }
}

template <int Columns>
__device__ __forceinline__ void keep_results(const WgmmaLinearArgs& args, const Block<Columns>& block) {
  using S = Shape<Columns>;
  unsigned parity = 0;
  for (int tile = block_id_x(); tile < block.tiles; tile += block_count_x(), parity ^= 1) {
    const int row = block.row(tile), column = block.column(tile);
    if (args.linear.residual != nullptr) {
      hopper::barrier_expect(block.result_free, S::kBoxes * kBoxBytes);
      for (int box = 0; box < S::kBoxes; ++box)
        hopper::copy_box(block.result + box * kBoxBytes, &args.residual, column + box * 64, row,
                         block.result_free);
    } else {
      hopper::barrier_arrive(block.result_free);
    }
    hopper::barrier_wait(block.result_done, parity);
    for (int box = 0; box < S::kBoxes; ++box)
      hopper::store_box(&args.y, column + box * 64, row, block.result + box * kBoxBytes);
    hopper::commit_stores();
    hopper::wait_stores_read<0>();
  }
  hopper::wait_stores<0>();
}

// A thread holds outputs 8 j + 2 (lane % 4) and the next, of rows lane / 4 and lane / 4 + 8 of its warp's 16.
// In the buffer a row of a box is 128 bytes, its 16-byte pieces shuffled by the row's number: the lanes of a
// warp meet different banks.
template <int Columns, class T>
__device__ __forceinline__ void finish_tile(const LinearArgs& args, const float (&sums)[Columns / 2],
                                            unsigned result, int warp_row, int first_output) {
  const int lane = thread_id() % 32, row = warp_row + lane / 4;
#pragma unroll
  for (int j = 0; j < Columns / 8; ++j) {
    const int output = first_output + j * 8 + lane % 4 * 2;
    float bias_low = 0, bias_high = 0;
    if (output < args.outputs) bias_low = args.bias[output], bias_high = args.bias[output + 1];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int line = row + half * 8;
      const unsigned place =
          result + j / 8 * kBoxBytes + line * 128 + ((j % 8 ^ (line & 7)) << 4) + lane % 4 * 4;
      float low = sums[j * 4 + half * 2] + bias_low, high = sums[j * 4 + half * 2 + 1] + bias_high;
      if (args.gelu) {
        low = gelu_for_16_bits(low);
        high = gelu_for_16_bits(high);
      }
      if (args.residual != nullptr) {
        float before_low, before_high;
        Pair<T>::unpack(load_shared(place), before_low, before_high);
        low += before_low;
        high += before_high;
      }
      store_shared(place, Pair<T>::pack(low, high));
    }
  }
}

template <int Columns, class T>
__device__ __forceinline__ void multiply_tiles(const WgmmaLinearArgs& args, const Block<Columns>& block) {
  using S = Shape<Columns>;
  const int group = thread_id() / 128 - 1;
  const unsigned own_rows = group * 64 * kInputs * 2;
  const auto release = [&](int stage) {
    if (thread_id() % 128 == 0) hopper::barrier_arrive(block.empty + stage * 8);
  };
  hopper::Ring<S::kStages> ring;
  unsigned result_parity = 0;
  float sums[Columns / 2];
  for (int tile = block_id_x(); tile < block.tiles; tile += block_count_x(), result_parity ^= 1) {
    int before = -1;
    for (int step = 0; step < block.steps; ++step, ring.advance()) {
      hopper::barrier_wait(block.full + ring.stage * 8, ring.parity);
      const unsigned x = block.operands + ring.stage * S::kStageBytes;
      const unsigned long long a = hopper::swizzled_tile(x + own_rows),
                               b = hopper::swizzled_tile(x + S::kXBytes);
      hopper::products_begin();
#pragma unroll
      for (int part = 0; part < kInputs / 16; ++part)
        hopper::Product<Columns, T>::add(sums, a + part * 2, b + part * 2, step + part);
      hopper::products_commit();
      hopper::products_wait<1>();  // the step before is done with its stage
      if (before >= 0) release(before);
      before = ring.stage;
    }
    hopper::products_wait<0>();
    release(before);

    hopper::barrier_wait(block.result_free, result_parity);
    finish_tile<Columns, T>(args.linear, sums, block.result, group * 64 + thread_id() / 32 % 4 * 16,
                            block.column(tile));
    hopper::fence_async_shared();
    hopper::barrier_arrive(block.result_done);
  }
}

template <int Columns, class T>
__device__ __forceinline__ void run(const WgmmaLinearArgs& args, unsigned shared) {
  const Block<Columns> block(shared, args.linear);
  if (thread_id() == 0) block.init_barriers();
  barrier();
  wait_for_previous_kernel();
  let_next_kernel_begin();
  if (thread_id() < 128) {
    hopper::give_registers<40>();
    if (thread_id() == 0) bring_operands(args, block);
    if (thread_id() == 32) keep_results(args, block);
  } else {
    hopper::take_registers<232>();
    multiply_tiles<Columns, T>(args, block);
  }
}

}  // namespace wgmma_linear
}  // namespace sotto::gpu
