#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "support/test_backends.h"
#include "tensor/tensor_view.h"

namespace sotto::test {

// Rows with the memory that they lie in.
struct OwnedRows {
  std::unique_ptr<Memory> memory;
  Rows rows;
  operator const Rows&() const { return rows; }  // NOLINT(google-explicit-constructor)
};

// Rows have a gap between them, so that a stride is not mistaken for a width: an odd one, or one that keeps
// every row where a device likes to load from.
enum class Placement { odd, aligned };
inline size_t row_stride(size_t width, Placement placement) {
  return placement == Placement::odd ? width + 3 : (width + 15) / 8 * 8;
}

inline OwnedRows allocate_rows(Backend& backend, size_t count, size_t width,
                               Precision precision = Precision::activation,
                               Placement placement = Placement::odd) {
  const size_t stride = row_stride(width, placement), offset = placement == Placement::odd ? 5 : 8;
  OwnedRows owned{backend.allocate(count * stride + offset, precision), {}};
  owned.rows = {owned.memory.get(), offset, count, width, stride};
  return owned;
}

inline OwnedRows upload(Backend& backend, std::span<const float> values, size_t width,
                        Precision precision = Precision::activation, Placement placement = Placement::odd) {
  OwnedRows owned = allocate_rows(backend, values.size() / width, width, precision, placement);
  backend.write(owned, values);
  return owned;
}

inline std::vector<float> download(Backend& backend, const Rows& rows) {
  std::vector<float> values(rows.count * rows.width);
  backend.read(rows, values);
  return values;
}

inline std::vector<float> random_values(size_t count, unsigned seed, float deviation = 1.0f) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

// The size of the difference relative to the size of what was expected.
inline double relative_error(std::span<const float> actual, std::span<const double> expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double difference = 0, size = 0;
  for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(difference / std::max(size, 1e-30));
}

// Columns [first, first + count) of dense rows.
inline std::vector<float> take_columns(std::span<const float> values, size_t width, size_t first,
                                       size_t count) {
  std::vector<float> taken;
  for (size_t row = 0; row < values.size(); row += width)
    taken.insert(taken.end(), values.begin() + static_cast<std::ptrdiff_t>(row + first),
                 values.begin() + static_cast<std::ptrdiff_t>(row + first + count));
  return taken;
}

inline TensorView view_of(std::span<const float> values, Shape shape) {
  return {.dtype = DType::f32, .shape = std::move(shape), .data = std::as_bytes(values)};
}

}  // namespace sotto::test
