#include "backend/cpu/cpu_types.h"

namespace sotto::cpu {

void CpuBackend::do_embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows,
                          const Rows& out) {
  const auto& matrix = static_cast<const CpuMatrix&>(table);
  const auto read = kernels_.matrix.read_output[static_cast<size_t>(matrix.type())];
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto token = static_cast<size_t>(rows[i].token);
    const float* position = row_data(positions, static_cast<size_t>(rows[i].position));
    const float scale = matrix.type() == WeightType::i8 ? matrix.scales()[token] : 1.0f;
    float* y = row_data(out, i);
    read(matrix.panel(token / kernels_.matrix.panel), token % kernels_.matrix.panel, matrix.inputs(), scale,
         y);
    for (size_t column = 0; column < matrix.inputs(); ++column) y[column] += position[column];
  }
}

}  // namespace sotto::cpu
