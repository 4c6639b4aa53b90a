#include "backend/gpu/gpu_types.h"

namespace sotto::gpu {

void GpuBackend::do_embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows,
                          const Rows& out) {
  if (rows.empty()) return;
  const Entered scope(*context_);
  const auto& matrix = static_cast<const GpuMatrix&>(table);
  const EmbedArgs args{matrix.weights().pointer(),
                       matrix.scales(),
                       activations("embed", positions),
                       static_cast<Stride>(positions.stride),
                       on_device(rows),
                       activations("embed", out),
                       static_cast<Stride>(out.stride),
                       static_cast<int>(rows.size()),
                       static_cast<int>(out.width),
                       static_cast<int>(matrix.padded_inputs()),
                       matrix.layout()};
  queue_.launch(matrix.is_int8() ? kernels_.embed_int8 : kernels_.embed, shape_of(args), args);
}

}  // namespace sotto::gpu
