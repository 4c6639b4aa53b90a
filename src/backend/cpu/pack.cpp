#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "backend/cpu/cpu_types.h"
#include "backend/stacked_rows.h"

namespace sotto::cpu {
namespace {

size_t round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

size_t packed_panel_bytes(WeightType type, size_t inputs, size_t outputs) {
  switch (type) {
    case WeightType::f32:
      return inputs * outputs * sizeof(float);
    case WeightType::f16:
    case WeightType::bf16:
      return inputs * outputs * sizeof(uint16_t);
    case WeightType::i8:
      return round_up(inputs, kInt8Group) * outputs;
  }
  return 0;
}

WeightType weight_type(ComputeType type) {
  switch (type) {
    case ComputeType::float16:
      return WeightType::f16;
    case ComputeType::bfloat16:
      return WeightType::bf16;
    case ComputeType::float32:
      return WeightType::f32;
    default:
      return WeightType::i8;
  }
}

struct PackingSpace {
  PackingSpace(size_t outputs, size_t inputs) : rows(outputs * inputs), spare(inputs) {}
  std::vector<float> rows, spare;
};

}  // namespace

CpuMatrix::CpuMatrix(size_t outputs, size_t inputs, WeightType type, size_t panel_outputs)
    : Matrix(outputs, inputs),
      type_(type),
      panel_count_((outputs + panel_outputs - 1) / panel_outputs),
      panel_bytes_(packed_panel_bytes(type, inputs, panel_outputs)),
      panels_(panel_count_ * panel_bytes_),
      bias_(panel_count_ * panel_outputs * sizeof(float)) {
  bytes_ = panels_.size() + bias_.size();
  if (type != WeightType::i8) return;
  scales_ = AlignedBytes(panel_count_ * panel_outputs * sizeof(float));
  sums_ = AlignedBytes(panel_count_ * panel_outputs * sizeof(int32_t));
  bytes_ += scales_.size() + sums_.size();
}

std::unique_ptr<Matrix> CpuBackend::do_pack_matrix(std::span<const MatrixPart> parts, MatrixUse) {
  const StackedRows source(parts);
  const size_t panel = kernels_.matrix.panel, inputs = source.inputs();
  const WeightType type = weight_type(compute_type_);
  auto matrix = std::make_unique<CpuMatrix>(source.outputs(), inputs, type, panel);
  source.read_bias(matrix->bias());

  // One working space per thread, panels drawn as they come: a panel's bytes do not depend on who packs it.
  const auto pack = kernels_.matrix.pack_panel[static_cast<size_t>(type)];
  const auto workers = std::min(static_cast<size_t>(pool_.size()), matrix->panel_count());
  std::vector<PackingSpace> spaces(workers, PackingSpace(panel, inputs));
  std::atomic<size_t> next_panel{0};
  pool_.parallel_for(workers, [&](size_t worker) {
    PackingSpace& space = spaces[worker];
    for (size_t index; (index = next_panel.fetch_add(1)) < matrix->panel_count();) {
      const size_t first = index * panel, count = std::min(panel, source.outputs() - first);
      source.read(first, count, space.rows.data(), space.spare);
      const bool quantised = type == WeightType::i8;
      pack(space.rows.data(), count, inputs, matrix->panel(index),
           quantised ? matrix->scales() + first : nullptr, quantised ? matrix->sums() + first : nullptr);
    }
  });
  source.release();
  return matrix;
}

}  // namespace sotto::cpu
