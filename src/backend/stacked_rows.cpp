#include "backend/stacked_rows.h"

#include <algorithm>

namespace sotto {
namespace {

void reorder_taps(float* row, size_t inputs, size_t taps, std::vector<float>& spare) {
  std::copy_n(row, inputs * taps, spare.data());
  for (size_t tap = 0; tap < taps; ++tap)
    for (size_t input = 0; input < inputs; ++input) row[tap * inputs + input] = spare[input * taps + tap];
}

}  // namespace

StackedRows::StackedRows(std::span<const Backend::MatrixPart> parts) : parts_(parts) {
  for (const Backend::MatrixPart& part : parts) outputs_ += static_cast<size_t>(part.weight->rows());
  inputs_ = static_cast<size_t>(parts.front().weight->row_elements());
}

void StackedRows::read(size_t first, size_t count, float* out, std::vector<float>& spare) const {
  size_t begin = 0;  // of the part
  for (const Backend::MatrixPart& part : parts_) {
    const auto rows = static_cast<size_t>(part.weight->rows());
    const size_t from = std::max(first, begin), to = std::min(first + count, begin + rows);
    if (from < to) {
      float* target = out + (from - first) * inputs_;
      read_rows(*part.weight, static_cast<int64_t>(from - begin), static_cast<int64_t>(to - from), target);
      if (part.weight->shape.size() == 3) {
        const auto taps = static_cast<size_t>(part.weight->shape[2]);
        for (size_t row = from; row < to; ++row, target += inputs_)
          reorder_taps(target, inputs_ / taps, taps, spare);
      }
    }
    begin += rows;
  }
}

void StackedRows::read_bias(float* out) const {
  for (const Backend::MatrixPart& part : parts_) {
    if (part.bias != nullptr) std::ranges::copy(read_all(*part.bias), out);
    out += part.weight->rows();
  }
}

void StackedRows::release() const {
  for (const Backend::MatrixPart& part : parts_)
    if (part.weight->owner != nullptr) part.weight->owner->release(part.weight->data);
}

}  // namespace sotto
