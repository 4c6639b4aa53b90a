// Activations times packed weights. An output is one chain of multiply-adds over the inputs in their order,
// in one lane of one accumulator; int8 sums are exact. So neither the other rows of a call nor its split into
// tiles, panels and tasks can change a bit of a row's result.
#include "backend/cpu/matrix_kernels.h"

#include "backend/cpu/isa/int8_dot.h"
#include "backend/cpu/isa/pack_kernels.h"
#include "backend/cpu/isa/tile.h"
#include "backend/cpu/isa/vec.h"

namespace sotto::cpu::SOTTO_ISA {
namespace {

// The four ways to store weights: how a sum starts, what a step along the inputs adds, what the sum means in
// the end. An object holds one step's weights of a panel, ready to be multiplied by any number of rows.
struct FloatWeights {
  using RowElement = float;  // of a tile
  using Sum = Vec;
  static constexpr int kTileRows = kFloatRows;
  static constexpr int kStepRowElements = 1;  // of a tile, per row

  Vec weights[kPanelVecs];
  Sum add(int vec, const RowElement* row, size_t, Sum sum) const {
    return fmadd(broadcast(*row), weights[vec], sum);
  }

  static size_t steps(size_t inputs) { return inputs; }
  static Sum start(const PanelProduct& product, size_t output) { return load(product.bias + output); }
  static Vec finish(const PanelProduct&, size_t, size_t, Sum sum) { return sum; }
};
struct F32Weights : FloatWeights {
  static constexpr size_t kStepBytes = kPanel * sizeof(float);
  explicit F32Weights(const char* p)
      : FloatWeights{{load((const float*)p), load((const float*)p + kLanes)}} {}
};
struct F16Weights : FloatWeights {
  static constexpr size_t kStepBytes = kPanel * sizeof(uint16_t);
  explicit F16Weights(const char* p)
      : FloatWeights{{load_half((const uint16_t*)p), load_half((const uint16_t*)p + kLanes)}} {}
};
struct Bf16Weights : FloatWeights {
  static constexpr size_t kStepBytes = kPanel * sizeof(uint16_t);
  explicit Bf16Weights(const char* p)
      : FloatWeights{{(Vec)(load_int(p) << 16), (Vec)(load_int(p) & broadcast_int((int32_t)0xffff0000u))}} {}
};
struct I8Weights {
  using RowElement = int32_t;
  using Sum = VecInt;
  static constexpr int kTileRows = kInt8Rows;
  static constexpr int kStepRowElements = kInt8Pieces;
  static constexpr size_t kStepBytes = kPanel * kInt8Group;

  Int8Step weights[kPanelVecs];
  explicit I8Weights(const char* p)
      : weights{Int8Step(load_int(p)), Int8Step(load_int(p + kStepBytes / 2))} {}
  Sum add(int vec, const RowElement* row, size_t distance, Sum sum) const {
    return weights[vec].add(row, distance, sum);
  }

  static size_t steps(size_t inputs) { return (inputs + kInt8Group - 1) / kInt8Group; }
  static Sum start(const PanelProduct& product, size_t output) {
    return load_int(product.weight_sums + output) * -kInt8Offset;
  }
  // No fused multiply-add: the same numbers on every instruction set.
  static Vec finish(const PanelProduct& product, size_t row, size_t output, Sum sum) {
    const Vec scale = load(product.weight_scales + output) * product.row_scales[row];
    return to_float(sum) * scale + load(product.bias + output);
  }
};

// Reading this far ahead hides the memory's latency where each weight is used once.
constexpr size_t kPrefetchBytes = 2048;

inline void store_first(float* p, Vec v, size_t count) {
  for (size_t i = 0; i < count; ++i) p[i] = v[i];
}

// From sums to results: [rows][panels][kPanel] sums of the tile that starts at `row`, for outputs from
// `output` on.
template <class Weights>
__attribute__((noinline)) void finish_tile(const PanelProduct& product, const typename Weights::Sum* sums,
                                           size_t rows, size_t vecs, size_t row, size_t output) {
  for (size_t r = row; r < row + rows; ++r) {
    float* y = product.y + r * product.y_stride;
    const float* residual =
        product.residual == nullptr ? nullptr : product.residual + r * product.residual_stride;
    for (size_t v = 0; v < vecs; ++v, ++sums) {
      const size_t column = output + v * kLanes;
      if (column >= product.outputs) continue;
      Vec value = Weights::finish(product, r, column, *sums);
      if (product.gelu) value = gelu(value);
      const size_t count = product.outputs - column;
      if (count >= kLanes) {
        if (residual != nullptr) value += load(residual + column);
        store(y + column, value);
      } else {
        if (residual != nullptr)
          for (size_t i = 0; i < count; ++i) value[i] += residual[column + i];
        store_first(y + column, value, count);
      }
    }
  }
}

// Rows x Panels outputs at once, all sums in registers.
template <class Weights, int Rows, int Panels>
void multiply_tile(const PanelProduct& product, const void* tile, size_t row, size_t panel) {
  using Sum = typename Weights::Sum;
  constexpr int kVecs = Panels * kPanelVecs;
  const size_t steps = Weights::steps(product.inputs);
  const auto* rows = static_cast<const typename Weights::RowElement*>(tile);
  const char* weights = static_cast<const char*>(product.panels) + panel * product.panel_bytes;

  Sum sums[Rows][kVecs];
#pragma GCC unroll 16
  for (int v = 0; v < kVecs; ++v) {
    const Sum start = Weights::start(product, panel * kPanel + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) sums[r][v] = start;
  }
  for (size_t step = 0; step < steps; ++step) {
    // A full tile's activations come from a shared cache; those of a few rows are in the first one already.
    if (Rows == Weights::kTileRows) __builtin_prefetch(reinterpret_cast<const char*>(rows) + kPrefetchBytes);
#pragma GCC unroll 4
    for (int p = 0; p < Panels; ++p) {
      const char* line = weights + p * product.panel_bytes;
#pragma GCC unroll 4
      for (size_t byte = 0; byte < Weights::kStepBytes; byte += 64)
        __builtin_prefetch(line + kPrefetchBytes + byte);
      const Weights some(line);
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 2
        for (int v = 0; v < kPanelVecs; ++v) {
          Sum& sum = sums[r][p * kPanelVecs + v];
          sum = some.add(v, rows + r, Rows, sum);
        }
    }
    weights += Weights::kStepBytes;
    rows += Rows * Weights::kStepRowElements;
  }
  Sum result[Rows * kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < kVecs; ++v) result[r * kVecs + v] = sums[r][v];
  finish_tile<Weights>(product, result, Rows, kVecs, row, panel * kPanel);
}

using TileFunction = void (*)(const PanelProduct& product, const void* tile, size_t row, size_t panel);

// Tiles of few rows take several panels at once, to have enough sums in flight.
constexpr int panels_at_once(size_t rows) {
  return rows == 1 ? 4 : rows == 2 ? 2 : 1;
}

template <class Weights, int Rows>
struct TileFunctions {
  static TileFunction find(size_t rows, bool several_panels) {
    if (rows != Rows) return TileFunctions<Weights, Rows - 1>::find(rows, several_panels);
    if (several_panels) return multiply_tile<Weights, Rows, panels_at_once(Rows)>;
    return multiply_tile<Weights, Rows, 1>;
  }
};
template <class Weights>
struct TileFunctions<Weights, 0> {
  static TileFunction find(size_t, bool) { return nullptr; }
};

template <class Weights>
void multiply(const PanelProduct& product) {
  constexpr size_t kRows = Weights::kTileRows;
  const auto* tiles = static_cast<const char*>(product.tiles);
  const size_t full_tiles = product.rows / kRows, last_rows = product.rows % kRows;
  const TileFunction last_tile = TileFunctions<Weights, kRows>::find(last_rows, false);
  size_t panel = 0;
  if (full_tiles == 0) {
    const size_t at_once = panels_at_once(last_rows);
    const TileFunction wide_tile = TileFunctions<Weights, kRows>::find(last_rows, true);
    for (; panel + at_once <= product.panel_count; panel += at_once) wide_tile(product, tiles, 0, panel);
  }
  for (; panel < product.panel_count; ++panel) {
    for (size_t tile = 0; tile < full_tiles; ++tile)
      multiply_tile<Weights, kRows, 1>(product, tiles + tile * product.tile_bytes, tile * kRows, panel);
    if (last_rows > 0) last_tile(product, tiles + full_tiles * product.tile_bytes, full_tiles * kRows, panel);
  }
}

}  // namespace

extern const MatrixKernels matrix_kernels;
const MatrixKernels matrix_kernels = {
    .panel = kPanel,
    .float_tile_rows = kFloatRows,
    .int8_tile_rows = kInt8Rows,
    .int8_row_group_bytes = kInt8Pieces * sizeof(int32_t),
    .multiply = {multiply<F32Weights>, multiply<F16Weights>, multiply<Bf16Weights>, multiply<I8Weights>},
    .pack_tile = pack_tile,
    .quantise_tile = quantise_tile,
    .pack_panel = {pack_panel_f32, pack_panel_f16, pack_panel_bf16, pack_panel_i8},
    .read_output = {read_output_f32, read_output_f16, read_output_bf16, read_output_i8},
};

}  // namespace sotto::cpu::SOTTO_ISA
