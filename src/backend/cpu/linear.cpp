#include <algorithm>

#include "backend/cpu/cpu_types.h"

namespace sotto::cpu {
namespace {

// Activations are packed in portions of this size: small enough for the caches that the threads share.
constexpr size_t kPortionBytes = size_t{6} << 20;
// Below so many activations, packing is not worth waking the other threads.
constexpr size_t kSmallPacking = size_t{16} << 10;
// A task is a block of rows times a block of panels. It is some 100 microseconds of multiply-adds or, where
// the rows are few and reading the weights is all the work, of reading.
constexpr size_t kTaskTiles = 4;
constexpr size_t kTaskMultiplyAdds = size_t{5} << 20;
constexpr size_t kTaskBytes = size_t{256} << 10;
constexpr size_t kFewestTasks = 16;
// The kernels take up to so many panels at once.
constexpr size_t kPanelsAtOnce = 4;

constexpr size_t kCacheLine = 64;

size_t divide_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit;
}

// How many panels a task takes. Depends on the shape only, though no split could change the numbers.
size_t task_panels(const CpuMatrix& matrix, size_t panel_outputs, size_t task_rows, size_t row_blocks) {
  const size_t by_work = kTaskMultiplyAdds / (task_rows * matrix.inputs() * panel_outputs + 1);
  const size_t by_bytes = row_blocks > 1 ? by_work : kTaskBytes / (matrix.panel_bytes() + 1);
  const size_t by_balance = matrix.panel_count() * row_blocks / kFewestTasks;
  const size_t panels = std::max<size_t>(1, std::min({by_work, by_bytes, by_balance}));
  return panels < kPanelsAtOnce ? panels : panels / kPanelsAtOnce * kPanelsAtOnce;
}

}  // namespace

// One call: y = epilogue(x W + bias). The rows of x may lie at any distance from each other, also overlap.
struct CpuBackend::Product {
  const CpuMatrix& matrix;
  const float* x;
  size_t x_stride;
  size_t rows;
  float* y;
  size_t y_stride;
  bool gelu;
  const float* residual;
  size_t residual_stride;

  bool is_int8() const { return matrix.type() == WeightType::i8; }
  size_t tile_rows(const MatrixKernels& kernels) const {
    return is_int8() ? kernels.int8_tile_rows : kernels.float_tile_rows;
  }
};

struct CpuBackend::PackedRows {
  size_t rows;
  const std::byte* tiles;
  size_t tile_bytes;
  const float* scales;  // int8 only
};

void CpuBackend::multiply(const Product& product) {
  const size_t row_bytes = product.matrix.inputs() * (product.is_int8() ? sizeof(int8_t) : sizeof(float));
  const size_t tile_rows = product.tile_rows(kernels_.matrix);
  const size_t portions = divide_up(product.rows * row_bytes, kPortionBytes);
  const size_t portion_rows =
      divide_up(divide_up(product.rows, std::max<size_t>(1, portions)), tile_rows) * tile_rows;
  for (size_t first = 0; first < product.rows; first += portion_rows)
    multiply_rows(product, first, pack_rows(product, first, std::min(portion_rows, product.rows - first)));
}

CpuBackend::PackedRows CpuBackend::pack_rows(const Product& product, size_t first_row, size_t rows) {
  const MatrixKernels& kernels = kernels_.matrix;
  const float* x = product.x + first_row * product.x_stride;
  // A single row of floats is a tile as it is.
  if (rows == 1 && !product.is_int8()) return {rows, reinterpret_cast<const std::byte*>(x), 0, nullptr};

  const size_t inputs = product.matrix.inputs();
  const size_t tile_rows = product.tile_rows(kernels), tiles = divide_up(rows, tile_rows);
  const size_t row_bytes = product.is_int8() ? divide_up(inputs, kInt8Group) * kernels.int8_row_group_bytes
                                             : inputs * sizeof(float);
  const size_t tile_bytes = divide_up(tile_rows * row_bytes, kCacheLine) * kCacheLine;
  const size_t bytes = tiles * tile_bytes + tiles * tile_rows * sizeof(float);
  if (packed_rows_.size() < bytes) {
    packed_rows_ = AlignedBytes();  // first give back, then take
    packed_rows_ = AlignedBytes(bytes);
  }
  auto* space = packed_rows_.as<std::byte>();
  auto* scales = reinterpret_cast<float*>(space + tiles * tile_bytes);
  const auto pack_one = [&](size_t tile) {
    const size_t first = tile * tile_rows, count = std::min(tile_rows, rows - first);
    const float* from = x + first * product.x_stride;
    std::byte* to = space + tile * tile_bytes;
    if (product.is_int8()) {
      kernels.quantise_tile(from, product.x_stride, count, inputs, to, scales + first);
    } else {
      kernels.pack_tile(from, product.x_stride, count, inputs, reinterpret_cast<float*>(to));
    }
  };
  if (rows * inputs < kSmallPacking) {
    for (size_t tile = 0; tile < tiles; ++tile) pack_one(tile);
  } else {
    pool_.parallel_for(tiles, pack_one);
  }
  return {rows, space, tile_bytes, scales};
}

void CpuBackend::multiply_rows(const Product& product, size_t first_row, const PackedRows& packed) {
  const CpuMatrix& matrix = product.matrix;
  const size_t panel_outputs = kernels_.matrix.panel;
  const size_t block_rows = kTaskTiles * product.tile_rows(kernels_.matrix);
  const size_t row_blocks = divide_up(packed.rows, block_rows);
  const size_t block_panels =
      task_panels(matrix, panel_outputs, std::min(packed.rows, block_rows), row_blocks);
  const size_t panel_blocks = divide_up(matrix.panel_count(), block_panels);
  const auto kernel = kernels_.matrix.multiply[static_cast<size_t>(matrix.type())];

  // Neighbouring tasks share their panels, which so are read from memory once for all rows.
  pool_.parallel_for(row_blocks * panel_blocks, [&](size_t task) {
    const size_t row = task % row_blocks * block_rows, panel = task / row_blocks * block_panels;
    const size_t output = panel * panel_outputs;
    const bool int8 = product.is_int8();
    kernel({.panels = matrix.panel(panel),
            .panel_bytes = matrix.panel_bytes(),
            .panel_count = std::min(block_panels, matrix.panel_count() - panel),
            .inputs = matrix.inputs(),
            .bias = matrix.bias() + output,
            .weight_scales = int8 ? matrix.scales() + output : nullptr,
            .weight_sums = int8 ? matrix.sums() + output : nullptr,
            .tiles = packed.tiles + task % row_blocks * kTaskTiles * packed.tile_bytes,
            .tile_bytes = packed.tile_bytes,
            .row_scales = int8 ? packed.scales + row : nullptr,
            .rows = std::min(block_rows, packed.rows - row),
            .y = product.y + (first_row + row) * product.y_stride + output,
            .y_stride = product.y_stride,
            .outputs = matrix.outputs() - output,
            .residual = product.residual == nullptr
                            ? nullptr
                            : product.residual + (first_row + row) * product.residual_stride + output,
            .residual_stride = product.residual_stride,
            .gelu = product.gelu});
  });
}

void CpuBackend::do_linear(const Matrix& weights, const Rows& x, const Rows& y, const Epilogue& epilogue) {
  const Rows* residual = epilogue.residual;
  multiply({.matrix = static_cast<const CpuMatrix&>(weights),
            .x = row_data(x),
            .x_stride = x.stride,
            .rows = x.count,
            .y = row_data(y),
            .y_stride = y.stride,
            .gelu = epilogue.gelu,
            .residual = residual == nullptr ? nullptr : row_data(*residual),
            .residual_stride = residual == nullptr ? 0 : residual->stride});
}

// The three frames under the taps follow each other in memory, so a window of them is a row of 3 x width
// values, and the next window's row starts `stride` frames later.
void CpuBackend::do_convolve(const Matrix& weights, const Rows& x, const Rows& y, int stride,
                             const Rows* addend) {
  multiply({.matrix = static_cast<const CpuMatrix&>(weights),
            .x = row_data(x),
            .x_stride = static_cast<size_t>(stride) * x.stride,
            .rows = y.count,
            .y = row_data(y),
            .y_stride = y.stride,
            .gelu = true,
            .residual = addend == nullptr ? nullptr : row_data(*addend),
            .residual_stride = addend == nullptr ? 0 : addend->stride});
}

}  // namespace sotto::cpu
