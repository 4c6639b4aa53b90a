#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "platform/mapped_file.h"
#include "tensor/dtype.h"

namespace sotto {

using Shape = std::vector<int64_t>;

std::string shape_text(const Shape& shape);  // "[384, 80, 3]"
int64_t shape_elements(
    const Shape& shape) noexcept;  // 1 for the empty shape; shapes are checked by the readers

// A tensor of a model file, as it lies there. Copying one is cheap; the bytes stay alive with their owner.
struct TensorView {
  DType dtype = DType::f32;
  Shape shape;
  std::span<const std::byte> data;  // not necessarily aligned to the element
  std::span<const std::byte>
      scales;  // i8 only: little-endian f32, value = i8 / scale; one per row, or one for all
  std::shared_ptr<const Region> owner;  // keeps data and scales alive

  int64_t elements() const noexcept { return shape_elements(shape); }
  int64_t rows() const noexcept { return shape.size() < 2 ? 1 : shape.front(); }
  int64_t row_elements() const noexcept { return rows() == 0 ? 0 : elements() / rows(); }
};

// The number of bytes that data must have for this type and shape.
size_t tensor_bytes(DType dtype, const Shape& shape);

// Rows [first, first + count) as float32; a row is everything below the first dimension.
void read_rows(const TensorView& tensor, int64_t first, int64_t count, float* out);
std::vector<float> read_all(const TensorView& tensor);

}  // namespace sotto
