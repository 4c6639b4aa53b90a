#pragma once

#include <stddef.h>
#include <stdint.h>

namespace sotto::cpu {

// How the weights of a packed matrix are stored.
enum class WeightType : uint8_t { f32, f16, bf16, i8 };
inline constexpr int kWeightTypes = 4;

// Inputs whose int8 weights lie side by side: one 32-bit element of a packed int8 panel.
inline constexpr size_t kInt8Group = 4;

// Packed weights. A panel holds `MatrixKernels::panel` consecutive outputs, the last one padded with zeros:
//   f32, f16:    [inputs][panel]
//   bf16:        [inputs][panel / 2] words of two outputs: i below, i + panel / 2 above
//   int8:        [ceil(inputs / 4)][panel][4]
// so that one row and many rows of activations read the same bytes in the same order.
//
// Packed activations. A tile holds up to float_tile_rows or int8_tile_rows rows, interleaved:
//   float types: [inputs][rows of this tile] (for a single row: the row as it is)
//   int8:        [ceil(inputs / 4)][32-bit pieces of a group][rows of this tile]

// One task: a block of rows times some panels, finished with scale, bias, GELU and residual.
struct PanelProduct {
  const void* panels;  // the first panel of the block
  size_t panel_bytes;  // from one panel to the next
  size_t panel_count;
  size_t inputs;
  const float* bias;           // per output, padded to whole panels
  const float* weight_scales;  // int8: per output, padded
  const int32_t* weight_sums;  // int8: per output, padded
  const void* tiles;           // packed activations
  size_t tile_bytes;           // from one tile to the next
  const float* row_scales;     // int8: per row
  size_t rows;
  float* y;  // output of the first row and the first panel
  size_t y_stride;
  size_t outputs;         // how many outputs of these panels exist; the rest is padding
  const float* residual;  // added last, where it is not null; may be y
  size_t residual_stride;
  bool gelu;
};

struct MatrixKernels {
  size_t panel;                 // outputs of a panel
  size_t float_tile_rows;       // rows of a full tile of float activations
  size_t int8_tile_rows;        // and of int8 ones
  size_t int8_row_group_bytes;  // bytes that a row's group of 4 inputs takes in an int8 tile

  // A row's result is the same bits whatever the other rows, tiles and panels of the call are.
  void (*multiply[kWeightTypes])(const PanelProduct& product);

  // Packs up to a tile's number of rows of activations into one tile. May write up to kTileSlack bytes behind
  // it.
  void (*pack_tile)(const float* x, size_t stride, size_t rows, size_t inputs, float* tile);
  void (*quantise_tile)(const float* x, size_t stride, size_t rows, size_t inputs, void* tile,
                        float* row_scales);

  // Packs `count` <= panel outputs (rows of weights, `inputs` apart) into one panel.
  void (*pack_panel[kWeightTypes])(const float* weights, size_t count, size_t inputs, void* panel,
                                   float* scales, int32_t* sums);

  // The weights of one output of a panel, as float32.
  void (*read_output[kWeightTypes])(const void* panel, size_t output, size_t inputs, float scale, float* out);
};

}  // namespace sotto::cpu
