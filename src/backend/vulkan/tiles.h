#pragma once

#include <cstdint>

#include "backend/vulkan/device.h"

namespace sotto::vk {

// The tile of matrix_tiled.comp: rows x outputs of a workgroup and of an invocation, blocks of inputs at a
// time.
struct MatrixTile {
  uint32_t tile_rows = 64, tile_outputs = 64, rows = 4, outputs = 4, blocks = 1;
  uint32_t local() const noexcept { return tile_rows / rows * (tile_outputs / outputs); }
};

// Sizes that suit a device. None of them changes a number that comes out but few_local, which is why that one
// follows from the class of the device alone and is never measured.
struct Tiles {
  uint32_t row_local = 64;  // invocations for one row: layer norm, quantising, sampling; elementwise kernels
  uint32_t sample_local =
      256;  // a whole vocabulary is much for a row; lavapipe ends loops after 65535 rounds in all
  uint32_t few_local = 64;   // matrix_few.comp: invocations along the inputs,
  uint32_t few_rows = 4;     // rows and
  uint32_t few_outputs = 2;  // outputs of a workgroup
  MatrixTile many;
  uint32_t lanes = 8;           // matrix_lanes.comp: the subgroup's size,
  uint32_t lane_rows = 4;       // rows
  uint32_t lane_outputs = 8;    // and outputs, times the subgroup's size
  uint32_t encoder_local = 64;  // queries of a workgroup
  uint32_t cached_local = 128;
};

Tiles tiles_for(const Device& device);  // by the class of the device

// Tiles worth trying for many rows on this device, the one of tiles_for() first.
std::vector<MatrixTile> tile_candidates(const Device& device);

}  // namespace sotto::vk
