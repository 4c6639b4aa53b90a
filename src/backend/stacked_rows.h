#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backend/backend.h"

namespace sotto {

// The weights that pack_matrix is given, as one matrix: rows of the stacked parts, numbered through, in
// float32.
class StackedRows {
 public:
  explicit StackedRows(std::span<const Backend::MatrixPart> parts);

  size_t outputs() const { return outputs_; }
  size_t inputs() const { return inputs_; }

  // Rows [first, first + count), dense. A convolution's row is [in][taps] in the file and [taps][in] here, so
  // that it meets consecutive frames in memory. `spare` holds inputs() values.
  void read(size_t first, size_t count, float* out, std::vector<float>& spare) const;

  void read_bias(float* out) const;  // outputs() values that are zero before

  void release() const;  // the file's pages are not needed any more

 private:
  std::span<const Backend::MatrixPart> parts_;
  size_t outputs_ = 0, inputs_ = 0;
};

}  // namespace sotto
