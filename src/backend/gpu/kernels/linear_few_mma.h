#pragma once

// A few rows times a matrix, where reading the weights is the work. The weights are the left operand (16
// outputs), the rows of activations the right one (8 rows), so that one row wastes arithmetic and nothing
// else. The warps of a block share the inputs: each streams its part of the weights once, straight into
// registers. How the inputs are shared depends on their number alone, so a row's numbers do not depend on the
// other rows.
#include "backend/gpu/kernels/fragments.h"
#include "backend/gpu/kernels/tensor_core.h"
#include "backend/gpu/kernels/tensor_core_epilogue.h"
#include "backend/gpu/kernels/tensor_core_shapes.h"

namespace sotto::gpu::few_mma {

inline constexpr int kBlockBytes = kFragmentOutputs * kFragmentInputs;  // int8; 16-bit types: twice

// The operand of one instruction from the weights of a lane.
template <class T>
struct Weights {  // of 16-bit type
  Vec16 both[2];
  __device__ __forceinline__ void load(const unsigned char* block, int lane) {
    both[0] = load_once(reinterpret_cast<const Vec16*>(block + lane * 16));
    both[1] = load_once(reinterpret_cast<const Vec16*>(block + 512 + lane * 16));
  }
  __device__ __forceinline__ void operand(int instruction, unsigned (&a)[4]) const {
    const Vec16& v = both[instruction];
    a[0] = v.x, a[1] = v.y, a[2] = v.z, a[3] = v.w;
  }
  static constexpr int kBytes = 2 * kBlockBytes;
};

template <class T>
struct Int8Weights {  // the scale of an output is applied to its sum
  Vec16 both;
  __device__ __forceinline__ void load(const unsigned char* block, int lane) {
    both = load_once(reinterpret_cast<const Vec16*>(block + lane * 16));
  }
  static __device__ __forceinline__ unsigned widen(unsigned word, int shift) {
    return Pair<T>::pack(static_cast<float>(static_cast<signed char>(word >> shift)),
                         static_cast<float>(static_cast<signed char>(word >> (shift + 8))));
  }
  __device__ __forceinline__ void operand(int instruction, unsigned (&a)[4]) const {
    const unsigned first = instruction == 0 ? both.x : both.z, second = instruction == 0 ? both.y : both.w;
    a[0] = widen(first, 0), a[1] = widen(first, 16), a[2] = widen(second, 0), a[3] = widen(second, 16);
  }
  static constexpr int kBytes = kBlockBytes;
};

// Sums[m][n]: outputs 16 m.., rows 8 n..: lane l holds outputs l / 4 and + 8 of rows l % 4 * 2 and the next.
template <int Tiles, int RowTiles>
using Sums = float[Tiles][RowTiles][4];

// Neighbours are added, then neighbouring pairs, and so on.
template <int Warps>
__device__ __forceinline__ float add_up(float (&parts)[Warps]) {
#pragma unroll
  for (int apart = 1; apart < Warps; apart *= 2)
#pragma unroll
    for (int i = 0; i < Warps; i += 2 * apart) parts[i] += parts[i + apart];
  return parts[0];
}

// What a thread writes at the end: outputs of the block's tile, and what is to be added to them. It is loaded
// all at once, and where there are few rows before the product, so that its way from memory is not waited for
// in the end.
template <class T, int Warps, int Tiles, int RowTiles>
struct Results {
  static constexpr int kOutputs = Tiles * kFragmentOutputs, kThreads = Warps * 32;
  static constexpr int kCount = (kOutputs * RowTiles * 8 + kThreads - 1) / kThreads;
  float bias[kCount], scale[kCount], residual[kCount];

  static __device__ __forceinline__ int row(int i) { return (thread_id() + i * kThreads) / kOutputs; }
  static __device__ __forceinline__ int output(int i) { return (thread_id() + i * kThreads) % kOutputs; }
  static __device__ __forceinline__ bool is_in(const LinearArgs& args, int i, int first_output,
                                               int first_row) {
    return row(i) < RowTiles * 8 && first_row + row(i) < args.rows && first_output + output(i) < args.outputs;
  }

  __device__ __forceinline__ void load_constants(const LinearArgs& args, int first_output, int first_row) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      bias[i] = 0;
      scale[i] = 1;
      if (!is_in(args, i, first_output, first_row)) continue;
      bias[i] = args.bias[first_output + output(i)];
      if (args.scales != nullptr) scale[i] = args.scales[first_output + output(i)];
    }
  }
  __device__ __forceinline__ void load_residual(const LinearArgs& args, int first_output, int first_row) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      residual[i] = 0;
      if (args.residual != nullptr && is_in(args, i, first_output, first_row))
        residual[i] = to_float(static_cast<const T*>(
            args.residual)[(first_row + row(i)) * args.residual_stride + first_output + output(i)]);
    }
  }

  // Adds up what the warps have left in shared memory.
  __device__ __forceinline__ void write(const LinearArgs& args, unsigned shared, int first_output,
                                        int first_row) const {
    constexpr int kEach = Tiles * RowTiles * 4;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (!is_in(args, i, first_output, first_row)) continue;
      const int value = (output(i) / 16 * RowTiles + row(i) / 8) * 4 + output(i) / 8 % 2 * 2 + row(i) % 2;
      const unsigned place = shared + (value * 32 + output(i) % 8 * 4 + row(i) % 8 / 2) * 4;
      float parts[Warps];
#pragma unroll
      for (int warp = 0; warp < Warps; ++warp)
        parts[warp] = bits_to_float(load_shared(place + warp * kEach * 128));
      float sum = multiply_add(add_up(parts), scale[i], bias[i]);
      if (args.gelu) sum = gelu_for_16_bits(sum);
      sum += residual[i];
      const long long to = (first_row + row(i)) * args.y_stride + first_output + output(i);
      if (args.y_is_full) {
        static_cast<float*>(args.y)[to] = sum;
      } else {
        store(static_cast<T*>(args.y) + to, sum);
      }
    }
  }
};

// Tiles of 16 outputs and RowTiles of 8 rows a block; Warps share the inputs.
template <class T, class W, int Warps, int Tiles, int RowTiles>
__device__ __forceinline__ void run(const LinearArgs& args, unsigned shared) {
  const int warp = thread_id() / 32, lane = thread_id() % 32;
  const int blocks = args.inputs / kFragmentInputs, each = (blocks + Warps - 1) / Warps;
  const int begin = warp * each, end = begin + each < blocks ? begin + each : blocks;
  const int first_tile = block_id_x() * Tiles, first_row = block_id_y() * RowTiles * 8;
  const int tile_count = (args.outputs + kFragmentOutputs - 1) / kFragmentOutputs;

  const unsigned char* weights[Tiles];
#pragma unroll
  for (int m = 0; m < Tiles; ++m) {
    const int tile = first_tile + m < tile_count ? first_tile + m : tile_count - 1;
    weights[m] =
        static_cast<const unsigned char*>(args.weights) + static_cast<long long>(tile) * blocks * W::kBytes;
  }
  constexpr int kAhead = Tiles > 1 ? 2 : 4;  // blocks of weights in flight
  W ahead[kAhead][Tiles];
#pragma unroll
  for (int i = 0; i < kAhead; ++i)
#pragma unroll
    for (int m = 0; m < Tiles; ++m)
      if (begin + i < end) ahead[i][m].load(weights[m] + static_cast<long long>(begin + i) * W::kBytes, lane);
  constexpr bool kFewResults = RowTiles == 1;
  Results<T, Warps, Tiles, RowTiles> results;
  if (kFewResults) results.load_constants(args, first_tile * kFragmentOutputs, first_row);
  wait_for_previous_kernel();
  let_next_kernel_begin();
  if (kFewResults) results.load_residual(args, first_tile * kFragmentOutputs, first_row);

  // One warp's share of the rows' inputs comes through shared memory, several blocks in flight. A lane copies
  // what it will need itself, so no other thread has to be waited for.
  constexpr int kRowStages = kRowStagesOf<RowTiles>;
  const unsigned ring = shared + warp * kRowStages * RowTiles * 512 + lane * 16;
  const T* x = static_cast<const T*>(args.x) + (first_row + lane / 4) * args.x_stride + lane % 4 * 8;
  const auto fetch = [&](int block) {
    if (block < end) {
#pragma unroll
      for (int n = 0; n < RowTiles; ++n) {
        const bool is_in = first_row + n * 8 + lane / 4 < args.rows;
        copy_async(
            ring + (block % kRowStages * RowTiles + n) * 512,
            is_in ? x + n * 8 * args.x_stride + block * kFragmentInputs : static_cast<const T*>(args.x),
            is_in);
      }
    }
    commit_copies();
  };
#pragma unroll
  for (int i = 0; i < kRowStages - 1; ++i) fetch(begin + i);

  Sums<Tiles, RowTiles> sums = {};
  for (int first = begin; first < end; first += kAhead) {
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int block = first + i;
      if (block >= end) break;
      wait_copies<kRowStages - 2>();
      unsigned operands[Tiles][2][4];
#pragma unroll
      for (int m = 0; m < Tiles; ++m) {
        ahead[i][m].operand(0, operands[m][0]);
        ahead[i][m].operand(1, operands[m][1]);
        if (block + kAhead < end)
          ahead[i][m].load(weights[m] + static_cast<long long>(block + kAhead) * W::kBytes, lane);
      }
#pragma unroll
      for (int n = 0; n < RowTiles; ++n) {
        const Vec16 row = load_shared_16(ring + (block % kRowStages * RowTiles + n) * 512);
#pragma unroll
        for (int m = 0; m < Tiles; ++m) {
          multiply<T>(sums[m][n], operands[m][0], row.x, row.y);
          multiply<T>(sums[m][n], operands[m][1], row.z, row.w);
        }
      }
      fetch(block + kRowStages - 1);
    }
  }
  if (!kFewResults) {
    results.load_constants(args, first_tile * kFragmentOutputs, first_row);
    results.load_residual(args, first_tile * kFragmentOutputs, first_row);
  }
  wait_copies<0>();
  barrier();  // the shared memory serves the sums now
#pragma unroll
  for (int i = 0; i < Tiles * RowTiles * 4; ++i)
    store_shared(shared + ((warp * Tiles * RowTiles * 4 + i) * 32 + lane) * 4,
                 float_to_bits(sums[i / (RowTiles * 4)][i / 4 % RowTiles][i % 4]));
  barrier();
  results.write(args, shared, first_tile * kFragmentOutputs, first_row);
}

}  // namespace sotto::gpu::few_mma
