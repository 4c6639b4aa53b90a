#include <algorithm>
#include <cmath>
#include <cstring>

#include "backend/stacked_rows.h"
#include "backend/vulkan/vulkan_types.h"
#include "tensor/float_convert.h"

namespace sotto::vk {
namespace {

constexpr size_t kPortionBytes = size_t{4} << 20;  // of weights that are packed and sent together

size_t block_inputs(WeightType type) {
  return type == WeightType::int8 ? 16 : 8;
}
size_t block_bytes(WeightType type) {
  return type == WeightType::float32 ? 32 : 16;
}

// Symmetric: the largest magnitude becomes 127. A row (almost) of zeros has the scale 0.
float quantise(std::span<const float> row, std::byte* to) {
  float largest = 0;
  for (const float value : row) largest = std::max(largest, std::abs(value));
  if (largest < 1e-30f) return 0;
  const float factor = 127.0f / largest;
  for (size_t i = 0; i < row.size(); ++i)
    to[i] = static_cast<std::byte>(static_cast<int8_t>(std::nearbyint(row[i] * factor)));
  return largest / 127.0f;
}

// One row in its type, with zeros behind it; returns its scale.
float pack_row(WeightType type, std::span<const float> row, std::span<std::byte> to) {
  std::ranges::fill(to, std::byte{0});
  switch (type) {
    case WeightType::float32:
      std::memcpy(to.data(), row.data(), row.size_bytes());
      return 1;
    case WeightType::float16:
      floats_to_halves(row.data(), row.size(), to.data());
      return 1;
    case WeightType::int8:
      return quantise(row, to.data());
  }
  return 1;
}

}  // namespace

WeightType weight_type(ComputeType type) {
  if (type == ComputeType::float32) return WeightType::float32;
  return type == ComputeType::float16 ? WeightType::float16 : WeightType::int8;
}

VulkanMatrix::VulkanMatrix(const std::shared_ptr<Context>& context, size_t outputs, size_t inputs,
                           WeightType weights_as, MatrixUse used)
    : Matrix(outputs, inputs),
      type(weights_as),
      use(used),
      weights(context, outputs * divide_up(inputs, block_inputs(weights_as)) * block_bytes(weights_as)),
      bias_scale(context, outputs * 2 * sizeof(float)),
      blocks_(divide_up(inputs, block_inputs(weights_as))),
      row_bytes_(blocks_ * block_bytes(weights_as)) {
  // Parts begin where a buffer may begin: 16 rows of 16 bytes or more do.
  constexpr size_t kRows = 16;
  part_outputs_ = context->device.limits().maxStorageBufferRange / row_bytes_ / kRows * kRows;
  if (part_outputs_ == 0)
    throw Error(ErrorCode::unsupported, "{} has no buffers for matrices of {} inputs", context->device.name(),
                inputs);
  bytes_ = outputs * row_bytes_ + outputs * 2 * sizeof(float);
}

void VulkanBackend::send(const Buffer& to, VkDeviceSize offset, std::span<const std::byte> bytes) {
  const std::lock_guard lock(context_->mutex);
  const View staged = context_->stream.upload(bytes.size());
  std::memcpy(staged.mapped, bytes.data(), bytes.size());
  context_->stream.copy(staged, to.view(), {{0, offset, bytes.size()}});
  context_->stream.submit();
}

std::unique_ptr<Matrix> VulkanBackend::do_pack_matrix(std::span<const MatrixPart> parts, MatrixUse use) {
  const StackedRows source(parts);
  const size_t inputs = source.inputs(), outputs = source.outputs();
  const WeightType type = weight_type(compute_type_);
  auto matrix = std::make_unique<VulkanMatrix>(context_, outputs, inputs, type, use);
  std::vector<float> bias(outputs, 0.0f), heads(2 * outputs);
  source.read_bias(bias.data());
  const size_t row_bytes = matrix->row_bytes();
  const size_t portion = std::clamp<size_t>(kPortionBytes / row_bytes, 1, outputs);
  std::vector<float> rows(portion * inputs), spare(inputs);
  std::vector<std::byte> packed(portion * row_bytes);
  for (size_t first = 0; first < outputs; first += portion) {
    const size_t count = std::min(portion, outputs - first);
    source.read(first, count, rows.data(), spare);
    for (size_t i = 0; i < count; ++i) {
      heads[2 * (first + i)] = bias[first + i];
      heads[2 * (first + i) + 1] = pack_row(type, std::span(rows).subspan(i * inputs, inputs),
                                            std::span(packed).subspan(i * row_bytes, row_bytes));
    }
    send(matrix->weights, first * row_bytes, std::span(packed).first(count * row_bytes));
  }
  send(matrix->bias_scale, 0, std::as_bytes(std::span(heads)));
  source.release();
  return matrix;
}

}  // namespace sotto::vk
