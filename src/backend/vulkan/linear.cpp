#include <algorithm>

#include "backend/vulkan/vulkan_types.h"

namespace sotto::vk {
namespace {

constexpr size_t kMostScratchBytes = size_t{32} << 20;  // for packed rows at a time

struct MatrixCall {
  uint32_t rows, outputs, blocks, first_output, x_offset, x_stride, y_offset, y_stride, residual_offset,
      residual_stride, gelu, residual;
};

}  // namespace

// One call: y = epilogue(x W' + bias). The rows of x may lie at any distance from each other, also overlap.
struct VulkanBackend::Product {
  const VulkanMatrix& matrix;
  Rows x;  // of the matrix's inputs
  Rows y;
  bool gelu;
  const Rows* residual;
};

// Rows in the blocks that the kernels read.
struct VulkanBackend::PackedRows {
  View view;
  uint32_t offset, stride;  // in blocks
  bool half;
  View scales;  // int8 only
};

View VulkanBackend::scratch(size_t bytes) {
  if (scratch_.bytes() < bytes) {
    Stream& stream = context_->stream;
    stream.finish();
    context_->mutex.unlock();  // a buffer's owner locks by itself
    scratch_ = Buffer();
    try {
      scratch_ = Buffer(context_, bytes);
    } catch (...) {
      context_->mutex.lock();
      throw;
    }
    context_->mutex.lock();
  }
  return scratch_.view();
}

VulkanBackend::PackedRows VulkanBackend::pack_rows(const Product& product, size_t first, size_t rows) {
  const VulkanMatrix& matrix = product.matrix;
  const BoundRows from(product.x.rows(first, rows));
  const bool half = from.element == Element::float16;
  const auto blocks = static_cast<uint32_t>(matrix.blocks()), width = static_cast<uint32_t>(matrix.inputs());
  Stream& stream = context_->stream;
  const auto groups = static_cast<uint32_t>(rows);
  const double work = 2.0 * static_cast<double>(rows) * static_cast<double>(matrix.inputs());

  if (matrix.type == WeightType::int8) {
    const size_t scale_bytes =
        (rows * sizeof(float) + Allocator::kAlignment - 1) / Allocator::kAlignment * Allocator::kAlignment;
    const View space = scratch(scale_bytes + rows * matrix.row_bytes());
    const View scales{space.buffer, space.offset, scale_bytes, nullptr};
    const View packed{space.buffer, space.offset + scale_bytes, rows * matrix.row_bytes(), nullptr};
    const Pipeline& pipeline = kernel(
        kernel_name("quantise_rows", {{context_->device.abilities().subgroups, "SUBGROUPS"}, {half, "HALF"}}),
        {tiles_.row_local});
    struct {
      uint32_t width, words, offset, stride;
    } const call{width, blocks * 4, from.offset, from.stride};
    stream.run(pipeline, {from.view, packed, scales}, call, {groups}, work);
    return {packed, 0, blocks, half, scales};
  }
  // Rows that lie in whole blocks already are read where they are.
  if (width % 8 == 0 && from.offset % 8 == 0 && (from.stride % 8 == 0 || rows == 1))
    return {from.view, from.offset / 8, from.stride / 8, half, {}};
  const View packed = scratch(rows * blocks * 8 * element_bytes(from.element));
  const Pipeline& pipeline = kernel(kernel_name("pack_rows", {{half, "HALF"}}), {element_local()});
  struct {
    uint32_t width, blocks, offset, stride;
  } const call{width, blocks, from.offset, from.stride};
  stream.run(pipeline, {from.view, packed}, call, {divide_up(blocks, pipeline.local), groups}, work);
  return {packed, 0, blocks, half, {}};
}

void VulkanBackend::multiply_rows(const Product& product, size_t first, size_t rows) {
  const VulkanMatrix& matrix = product.matrix;
  const Abilities& has = context_->device.abilities();
  const PackedRows x = pack_rows(product, first, rows);
  const BoundRows y(product.y.rows(first, rows)),
      residual(product.residual != nullptr ? product.residual->rows(first, rows)
                                           : product.y.rows(first, rows));
  const bool int8 = matrix.type == WeightType::int8, half_weights = matrix.type == WeightType::float16;
  const bool half_y = y.element == Element::float16, half_x = x.half && !int8;
  const Definition dot{int8 && has.dot, "DOT_PRODUCT"}, w_half{half_weights, "W_HALF"},
      w_int8{int8, "W_INT8"}, x_half{half_x, "X_HALF"}, half{half_y, "HALF"};

  const Pipeline* pipeline = nullptr;
  uint32_t tile_rows = 0, tile_outputs = 0;
  if (has.lanes) {
    // A large tile for many rows: no tile changes a number, so here the rows of the call may decide. Bytes
    // gain nothing from it.
    constexpr size_t kManyRows = 1024;
    const bool large = rows >= kManyRows && !int8;
    const uint32_t lane_rows = large ? tiles_.lane_rows : 1, lane_outputs = large ? tiles_.lane_outputs : 4;
    pipeline = &kernel(kernel_name("matrix_lanes", {dot, w_half, w_int8, x_half, half}),
                       {tiles_.lanes, lane_rows, lane_outputs});
    tile_rows = tiles_.lanes * lane_rows;
    tile_outputs = tiles_.lanes * lane_outputs;
  } else if (matrix.use == MatrixUse::many_rows) {
    const MatrixTile& tile = tiles_.many;
    const Definition float16{half_weights && half_x && has.float16, "FLOAT16"};
    pipeline =
        &kernel(kernel_name("matrix_tiled", {float16, dot, w_half, w_int8, x_half, half}),
                {tile.local(), tile.tile_rows, tile.tile_outputs, tile.rows, tile.outputs, tile.blocks});
    tile_rows = tile.tile_rows;
    tile_outputs = tile.tile_outputs;
  } else {
    pipeline =
        &kernel(kernel_name("matrix_few", {{has.subgroups, "SUBGROUPS"}, dot, w_half, w_int8, x_half, half}),
                {tiles_.few_local, tiles_.few_rows, tiles_.few_outputs});
    tile_rows = tiles_.few_rows;
    tile_outputs = tiles_.few_outputs;
  }
  for (size_t output = 0; output < matrix.outputs(); output += matrix.part_outputs()) {
    const size_t outputs = std::min(matrix.part_outputs(), matrix.outputs() - output);
    const MatrixCall call{static_cast<uint32_t>(rows),
                          static_cast<uint32_t>(outputs),
                          static_cast<uint32_t>(matrix.blocks()),
                          static_cast<uint32_t>(output),
                          x.offset,
                          x.stride,
                          y.offset,
                          y.stride,
                          residual.offset,
                          residual.stride,
                          product.gelu ? 1u : 0u,
                          product.residual != nullptr ? 1u : 0u};
    context_->stream.run(
        *pipeline, {x.view, matrix.part(output), matrix.bias_scale.view(), y.view, residual.view, x.scales},
        call, {divide_up(outputs, tile_outputs), divide_up(rows, tile_rows)},
        2.0 * static_cast<double>(rows) * static_cast<double>(outputs) *
            static_cast<double>(matrix.inputs()));
  }
  context_->stream.pace();
}

void VulkanBackend::multiply(const Product& product) {
  if (product.y.count == 0) return;
  const std::lock_guard lock(context_->mutex);
  // So many rows that neither the packed ones nor the work of one kernel get out of hand.
  const VulkanMatrix& matrix = product.matrix;
  const double row_work = 2.0 * static_cast<double>(matrix.outputs()) * static_cast<double>(matrix.inputs());
  const size_t by_work = static_cast<size_t>(std::max(1.0, context_->stream.piece_work() / row_work));
  const size_t by_space = std::max<size_t>(1, kMostScratchBytes / (matrix.blocks() * 32));
  constexpr size_t kTile = 128, kMostRows = 32768;
  size_t portion = std::min({by_work, by_space, kMostRows});
  if (portion > kTile) portion = portion / kTile * kTile;
  for (size_t first = 0; first < product.y.count; first += portion)
    multiply_rows(product, first, std::min(portion, product.y.count - first));
}

void VulkanBackend::do_linear(const Matrix& weights, const Rows& x, const Rows& y, const Epilogue& epilogue) {
  multiply({static_cast<const VulkanMatrix&>(weights), x, y, epilogue.gelu, epilogue.residual});
}

// The three frames under the taps follow each other in memory where nothing lies between the rows, so a
// window of them is a row of 3 x width values, and the next window's row starts `stride` frames later.
void VulkanBackend::do_convolve(const Matrix& weights, const Rows& x, const Rows& y, int stride,
                                const Rows* addend) {
  if (x.stride != x.width)
    throw Error(ErrorCode::internal,
                "convolve: the frames should lie side by side, but there are gaps between them");
  const Rows windows{x.memory, x.offset, y.count, 3 * x.width, static_cast<size_t>(stride) * x.stride};
  multiply({static_cast<const VulkanMatrix&>(weights), windows, y, true, addend});
}

}  // namespace sotto::vk
