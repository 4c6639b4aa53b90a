#include <algorithm>

#include "backend/cpu/cpu_types.h"

namespace sotto::cpu {
namespace {

constexpr size_t kRowsPerTask = 16;

class CpuNorm final : public Norm {
 public:
  CpuNorm(const TensorView& scale, const TensorView& shift)
      : Norm(static_cast<size_t>(scale.elements())), scale_(read_all(scale)), shift_(read_all(shift)) {}
  const float* scale() const noexcept { return scale_.data(); }
  const float* shift() const noexcept { return shift_.data(); }

 private:
  const std::vector<float> scale_, shift_;
};

}  // namespace

std::unique_ptr<Norm> CpuBackend::do_pack_norm(const TensorView& scale, const TensorView& shift) {
  return std::make_unique<CpuNorm>(scale, shift);
}

void CpuBackend::do_layer_norm(const Norm& norm, const Rows& x, const Rows& y) {
  const auto& weights = static_cast<const CpuNorm&>(norm);
  pool_.parallel_for((x.count + kRowsPerTask - 1) / kRowsPerTask, [&](size_t task) {
    const size_t last = std::min(x.count, (task + 1) * kRowsPerTask);
    for (size_t row = task * kRowsPerTask; row < last; ++row)
      kernels_.rows.layer_norm(row_data(x, row), weights.scale(), weights.shift(), row_data(y, row), x.width);
  });
}

}  // namespace sotto::cpu
