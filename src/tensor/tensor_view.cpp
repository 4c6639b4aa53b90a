#include "tensor/tensor_view.h"

#include <array>
#include <cstring>
#include <limits>

#include <fmt/ranges.h>

#include "base/error.h"
#include "tensor/float_convert.h"

namespace sotto {
namespace {

template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

// One block of 32 values; `Minimum`: value = scale * q + minimum instead of scale * (q - offset).
template <bool Minimum, bool FifthBits>
void read_nibble_block(const std::byte* block, float* out) noexcept {
  const float scale = half_to_float(load<uint16_t>(block));
  block += 2;
  float minimum = 0;
  if constexpr (Minimum) {
    minimum = half_to_float(load<uint16_t>(block));
    block += 2;
  }
  uint32_t fifth_bits = 0;
  if constexpr (FifthBits) {
    fifth_bits = load<uint32_t>(block);
    block += 4;
  }
  constexpr int kOffset = Minimum ? 0 : (FifthBits ? 16 : 8);
  for (int i = 0; i < 16; ++i) {
    const auto both = std::to_integer<uint32_t>(block[i]);
    const uint32_t low = (both & 15u) | (((fifth_bits >> i) & 1u) << 4);
    const uint32_t high = (both >> 4) | (((fifth_bits >> (i + 16)) & 1u) << 4);
    out[i] = static_cast<float>(static_cast<int>(low) - kOffset) * scale + minimum;
    out[i + 16] = static_cast<float>(static_cast<int>(high) - kOffset) * scale + minimum;
  }
}

void read_byte_block(const std::byte* block, float* out) noexcept {
  const float scale = half_to_float(load<uint16_t>(block));
  for (int i = 0; i < 32; ++i) out[i] = static_cast<float>(load<int8_t>(block + 2 + i)) * scale;
}

using ReadBlock = void (*)(const std::byte* block, float* out) noexcept;

ReadBlock block_reader(DType type) noexcept {
  switch (type) {
    case DType::q4_0:
      return read_nibble_block<false, false>;
    case DType::q4_1:
      return read_nibble_block<true, false>;
    case DType::q5_0:
      return read_nibble_block<false, true>;
    case DType::q5_1:
      return read_nibble_block<true, true>;
    default:
      return read_byte_block;
  }
}

void read_scaled_rows(const TensorView& tensor, int64_t first, int64_t count, float* out) noexcept {
  const auto row_elements = static_cast<size_t>(tensor.row_elements());
  const bool one_scale = tensor.scales.size() == sizeof(float);
  for (int64_t row = first; row < first + count; ++row, out += row_elements) {
    const std::byte* values = tensor.data.data() + static_cast<size_t>(row) * row_elements;
    const float scale = load<float>(tensor.scales.data() + (one_scale ? 0 : sizeof(float) * row));
    for (size_t i = 0; i < row_elements; ++i) out[i] = static_cast<float>(load<int8_t>(values + i)) / scale;
  }
}

// A view is made by a reader that has checked it; this catches a mistake of ours before it becomes a wild
// read.
void require_readable(const TensorView& tensor, int64_t first, int64_t count) {
  const int64_t rows = tensor.rows();
  if (first < 0 || count < 0 || first > rows || count > rows - first)
    throw Error(ErrorCode::internal, "rows {} to {} asked of a tensor of shape {}", first, first + count,
                shape_text(tensor.shape));
  if (tensor.data.size() != tensor_bytes(tensor.dtype, tensor.shape))
    throw Error(ErrorCode::internal, "a {} tensor of shape {} lies in {} bytes", dtype_name(tensor.dtype),
                shape_text(tensor.shape), tensor.data.size());
  const size_t scales = tensor.scales.size() / sizeof(float);
  if (tensor.dtype == DType::i8 && scales != 1 && scales != static_cast<size_t>(rows))
    throw Error(ErrorCode::internal, "an int8 tensor of shape {} has {} scales", shape_text(tensor.shape),
                scales);
}

}  // namespace

std::string shape_text(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

int64_t shape_elements(const Shape& shape) noexcept {
  int64_t elements = 1;
  for (const int64_t size : shape) elements *= size;
  return elements;
}

size_t tensor_bytes(DType dtype, const Shape& shape) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t elements = 1;
  for (const int64_t size : shape) {
    if (size < 0) throw Error(ErrorCode::bad_model, "the shape {} has a negative size", shape_text(shape));
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(size), &elements) || elements > kMost)
      throw Error(ErrorCode::bad_model, "the shape {} is too large", shape_text(shape));
  }
  const uint64_t rows = shape.size() < 2 ? 1 : static_cast<uint64_t>(shape.front());
  const uint64_t row_elements = rows == 0 ? 0 : elements / rows;
  if (row_elements % dtype_block_values(dtype) != 0)
    throw Error(ErrorCode::bad_model,
                "the shape {} cannot be {}: its rows are not made of whole blocks of {} values",
                shape_text(shape), dtype_name(dtype), dtype_block_values(dtype));
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements / dtype_block_values(dtype), uint64_t{dtype_block_bytes(dtype)},
                             &bytes) ||
      bytes > kMost)
    throw Error(ErrorCode::bad_model, "the shape {} is too large", shape_text(shape));
  return bytes;
}

void read_rows(const TensorView& tensor, int64_t first, int64_t count, float* out) {
  require_readable(tensor, first, count);
  const auto row_elements = static_cast<size_t>(tensor.row_elements());
  const size_t values = static_cast<size_t>(count) * row_elements;
  if (values == 0) return;
  const size_t row_bytes = row_elements / dtype_block_values(tensor.dtype) * dtype_block_bytes(tensor.dtype);
  const std::byte* from = tensor.data.data() + static_cast<size_t>(first) * row_bytes;
  switch (tensor.dtype) {
    case DType::f32:
      std::memcpy(out, from, values * sizeof(float));
      return;
    case DType::f16:
      halves_to_floats(from, values, out);
      return;
    case DType::bf16:
      bfloats_to_floats(from, values, out);
      return;
    case DType::i8:
      read_scaled_rows(tensor, first, count, out);
      return;
    default:
      break;
  }
  const ReadBlock read_block = block_reader(tensor.dtype);
  const size_t block_values = dtype_block_values(tensor.dtype), block_bytes = dtype_block_bytes(tensor.dtype);
  for (size_t block = 0; block < values / block_values; ++block)
    read_block(from + block * block_bytes, out + block * block_values);
}

std::vector<float> read_all(const TensorView& tensor) {
  require_readable(tensor, 0, tensor.rows());
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  read_rows(tensor, 0, tensor.rows(), values.data());
  return values;
}

}  // namespace sotto
