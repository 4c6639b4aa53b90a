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

// The products of 32 inputs. Several rows are in hand before the first is used, and an instruction does not
// follow the one whose sums it needs at once.
template <class T, int RowTiles>
__device__ __forceinline__ void multiply_rows(float (&sums)[RowTiles][4], const unsigned (&operands)[2][4],
                                              unsigned rows) {
  constexpr int kTogether = RowTiles < 4 ? RowTiles : 4;
#pragma unroll
  for (int first = 0; first < RowTiles; first += kTogether) {
    Vec16 row[kTogether];
#pragma unroll
    for (int n = 0; n < kTogether; ++n) row[n] = load_shared_16(rows + (first + n) * 512);
#pragma unroll
    for (int n = 0; n < kTogether; ++n) multiply<T>(sums[first + n], operands[0], row[n].x, row[n].y);
#pragma unroll
    for (int n = 0; n < kTogether; ++n) multiply<T>(sums[first + n], operands[1], row[n].z, row[n].w);
  }
}

// The warps' sums in shared memory: for each warp a line of outputs for each row. The padding keeps the lanes
// of a warp in different banks when they write, and a line's pieces of four where they can be read at once.
template <int Tiles>
inline constexpr int kLine = Tiles* kFragmentOutputs + 4;
template <int Tiles, int RowTiles>
inline constexpr int kWarpSums = RowTiles * 8 * kLine<Tiles> * 4;  // bytes

template <int Tiles, int RowTiles>
__device__ __forceinline__ void leave_sums(const Sums<Tiles, RowTiles>& sums, unsigned to, int lane) {
#pragma unroll
  for (int m = 0; m < Tiles; ++m)
#pragma unroll
    for (int n = 0; n < RowTiles; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i)
        store_shared(to + ((n * 8 + lane % 4 * 2 + i % 2) * kLine<Tiles> + m * 16 + lane / 4 + i / 2 * 8) * 4,
                     float_to_bits(sums[m][n][i]));
}

// What a thread writes in the end: four neighbouring outputs of a row at a time, or, where there are few,
// one. What is to be added to them is loaded all at once, and where there are few rows before the product, so
// that its way from memory is not waited for in the end.
template <class T, int Warps, int Tiles, int RowTiles>
struct Results {
  static constexpr int kTogether = RowTiles == 1 ? 1 : 4;
  static constexpr int kGroups = Tiles * kFragmentOutputs / kTogether,
                       kThreads = Warps * 32;  // groups of a row
  static constexpr int kCount = (kGroups * RowTiles * 8 + kThreads - 1) / kThreads;
  float bias[kCount][kTogether], scale[kCount][kTogether], residual[kCount][kTogether];

  static __device__ __forceinline__ int row(int i) { return (thread_id() + i * kThreads) / kGroups; }
  static __device__ __forceinline__ int output(int i) {
    return (thread_id() + i * kThreads) % kGroups * kTogether;
  }
  static __device__ __forceinline__ bool has_row(const LinearArgs& args, int i, int first_row) {
    return row(i) < RowTiles * 8 && first_row + row(i) < args.rows;
  }

  __device__ __forceinline__ void load_constants(const LinearArgs& args, int first_output, int first_row) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
#pragma unroll
      for (int e = 0; e < kTogether; ++e) {
        const int to = first_output + output(i) + e;
        const bool is_in = has_row(args, i, first_row) && to < args.outputs;
        bias[i][e] = is_in ? args.bias[to] : 0.0F;
        scale[i][e] = is_in && args.scales != nullptr ? args.scales[to] : 1.0F;
      }
  }
  __device__ __forceinline__ void load_residual(const LinearArgs& args, int first_output, int first_row) {
#pragma unroll
    for (int i = 0; i < kCount; ++i)
#pragma unroll
      for (int e = 0; e < kTogether; ++e) {
        const int to = first_output + output(i) + e;
        residual[i][e] = 0;
        if (args.residual != nullptr && has_row(args, i, first_row) && to < args.outputs)
          residual[i][e] = to_float(
              static_cast<const T*>(args.residual)[(first_row + row(i)) * args.residual_stride + to]);
      }
  }

  // Adds up what the warps have left in shared memory.
  __device__ __forceinline__ void write(const LinearArgs& args, unsigned shared, int first_output,
                                        int first_row) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (!has_row(args, i, first_row)) continue;
      float parts[kTogether][Warps];
#pragma unroll
      for (int warp = 0; warp < Warps; ++warp) {
        const unsigned place =
            shared + warp * kWarpSums<Tiles, RowTiles> + (row(i) * kLine<Tiles> + output(i)) * 4;
        if constexpr (kTogether == 1) {
          parts[0][warp] = bits_to_float(load_shared(place));
        } else {
          const Vec16 four = load_shared_16(place);
          parts[0][warp] = bits_to_float(four.x);
          parts[1][warp] = bits_to_float(four.y);
          parts[2][warp] = bits_to_float(four.z);
          parts[3][warp] = bits_to_float(four.w);
        }
      }
      float sums[kTogether];
#pragma unroll
      for (int e = 0; e < kTogether; ++e) {
        sums[e] = multiply_add(add_up(parts[e]), scale[i][e], bias[i][e]);
        if (args.gelu) sums[e] = gelu_for_16_bits(sums[e]);
        sums[e] += residual[i][e];
      }
      write_outputs(args, first_row + row(i), first_output + output(i), sums);
    }
  }

  static __device__ __forceinline__ void write_outputs(const LinearArgs& args, long long to_row,
                                                       int to_output, const float (&sums)[kTogether]) {
    const int left = args.outputs - to_output;
    if (args.y_is_full) {
      float* to = static_cast<float*>(args.y) + to_row * args.y_stride + to_output;
#pragma unroll
      for (int e = 0; e < kTogether; ++e)
        if (e < left) to[e] = sums[e];
      return;
    }
    T* to = static_cast<T*>(args.y) + to_row * args.y_stride + to_output;
    if constexpr (kTogether == 4) {
      if (left >= 4 && (reinterpret_cast<unsigned long long>(to) & 7) == 0) {
        store_two_words(to, Pair<T>::pack(sums[0], sums[1]), Pair<T>::pack(sums[2], sums[3]));
        return;
      }
    }
#pragma unroll
    for (int e = 0; e < kTogether; ++e)
      if (e < left) store(to + e, sums[e]);
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
      const unsigned rows = ring + block % kRowStages * RowTiles * 512;
#pragma unroll
      for (int m = 0; m < Tiles; ++m) multiply_rows<T>(sums[m], operands[m], rows);
      fetch(block + kRowStages - 1);
    }
  }
  if (!kFewResults) {
    results.load_constants(args, first_tile * kFragmentOutputs, first_row);
    results.load_residual(args, first_tile * kFragmentOutputs, first_row);
  }
  wait_copies<0>();
  barrier();  // the shared memory serves the sums now
  leave_sums<Tiles, RowTiles>(sums, shared + warp * kWarpSums<Tiles, RowTiles>, lane);
  barrier();
  results.write(args, shared, first_tile * kFragmentOutputs, first_row);
}

}  // namespace sotto::gpu::few_mma
