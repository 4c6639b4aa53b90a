#include <algorithm>

#include "backend/vulkan/vulkan_types.h"

namespace sotto::vk {

void VulkanBackend::do_embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows,
                             const Rows& out) {
  if (rows.empty()) return;
  const std::lock_guard lock(context_->mutex);
  const auto& matrix = static_cast<const VulkanMatrix&>(table);
  const BoundRows from(positions), to(out);
  const Pipeline& pipeline = kernel(kernel_name("embed", {{matrix.type == WeightType::float16, "W_HALF"},
                                                          {matrix.type == WeightType::int8, "W_INT8"},
                                                          {to.element == Element::float16, "HALF"}}),
                                    {element_local()});
  const View sent = send_rows(rows);
  for (size_t first = 0; first < matrix.outputs(); first += matrix.part_outputs()) {
    const struct {
      uint32_t width, row_words, first_token, last_token, positions_offset, positions_stride, out_offset,
          out_stride;
    } call{static_cast<uint32_t>(matrix.inputs()),
           static_cast<uint32_t>(matrix.row_bytes() / sizeof(uint32_t)),
           static_cast<uint32_t>(first),
           static_cast<uint32_t>(std::min(first + matrix.part_outputs(), matrix.outputs())),
           from.offset,
           from.stride,
           to.offset,
           to.stride};
    context_->stream.run(pipeline, {matrix.part(first), matrix.bias_scale.view(), from.view, sent, to.view},
                         call,
                         {divide_up(matrix.inputs(), pipeline.local), static_cast<uint32_t>(rows.size())},
                         static_cast<double>(rows.size() * matrix.inputs()));
  }
  context_->stream.pace();
}

}  // namespace sotto::vk
