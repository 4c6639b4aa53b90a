#pragma once

#include "backend/gpu/kernels/arguments.h"

// The tiles of the tensor-core kernels and the shared memory that a block needs: for the kernels, and for the
// host that launches them.
namespace sotto::gpu {

namespace mma_linear {
inline constexpr int kRows = 128, kOutputs = 128, kInputs = 32, kStages = 4, kThreads = 256;
inline constexpr int kOperandBytes = kRows * kInputs * 2, kStageBytes = 2 * kOperandBytes;
inline constexpr int kSharedBytes = kStages * kStageBytes;
}  // namespace mma_linear

namespace few_mma {
constexpr int row_stages(int row_tiles) {  // blocks of 32 of the rows' inputs in flight
  return row_tiles == 1 ? 8 : 3;
}
template <int RowTiles>
inline constexpr int kRowStagesOf = row_stages(RowTiles);
// Each warp's ring of them, and later the warps' sums.
constexpr int shared_bytes(int warps, int tiles, int row_tiles) {
  const int rings = warps * row_stages(row_tiles) * row_tiles * 512,
            sums = warps * row_tiles * 8 * (tiles * 16 + 4) * 4;
  return rings > sums ? rings : sums;
}
}  // namespace few_mma

namespace attention_mma {
inline constexpr int kQueries = 128, kKeys = 64, kWidth = 64, kThreads = 128, kStages = 2;
inline constexpr int kTileBytes = kKeys * kWidth * 2;  // of keys or of values
inline constexpr int kSharedBytes = kStages * 2 * kTileBytes;
}  // namespace attention_mma

namespace hopper {
struct alignas(64) TensorMap {  // CUDA's CUtensorMap
  unsigned long long opaque[16];
};
}  // namespace hopper

namespace wgmma_linear {
inline constexpr int kRows = 128, kInputs = 64, kThreads = 384, kBoxBytes = kRows * 64 * 2;
constexpr int stages(int columns) {
  return columns == 256 ? 3 : 5;
}
constexpr int stage_bytes(int columns) {
  return (kRows + columns) * kInputs * 2;
}
constexpr int barriers(int columns) {
  return 2 * stages(columns) + 2;
}
constexpr int shared_bytes(int columns) {  // 1024: to align
  return stages(columns) * stage_bytes(columns) + columns / 64 * kBoxBytes + barriers(columns) * 8 + 1024;
}
}  // namespace wgmma_linear

namespace attention_wgmma {
inline constexpr int kGroups = 3, kQueries = kGroups * 64, kKeys = 128, kWidth = 64, kStages = 2;
inline constexpr int kThreads = (kGroups + 1) * 128;
inline constexpr int kQueryBytes = kQueries * kWidth * 2, kTileBytes = kKeys * kWidth * 2;
inline constexpr int kBarriers = 4 + 4 * kStages;
inline constexpr int kSharedBytes =
    2 * kQueryBytes + kStages * 2 * kTileBytes + kBarriers * 8 + 1024;  // 1024: to align
}  // namespace attention_wgmma

struct WgmmaAttentionArgs {
  hopper::TensorMap queries, keys;  // of qkv: boxes of 64 values x kQueries and x kKeys rows
  EncoderAttentionArgs attention;
};

struct WgmmaLinearArgs {
  // Boxes of 64 inputs x 128 rows, 64 inputs x Columns outputs, 64 outputs x 128 rows (twice).
  hopper::TensorMap x, weights, residual, y;
  LinearArgs linear;
};

}  // namespace sotto::gpu
