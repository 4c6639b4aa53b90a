#include "backend/vulkan/vulkan_types.h"

namespace sotto::vk {

std::unique_ptr<Norm> VulkanBackend::do_pack_norm(const TensorView& scale, const TensorView& shift) {
  const std::vector<float> scales = read_all(scale), shifts = read_all(shift);
  std::vector<float> pairs;
  for (size_t i = 0; i < scales.size(); ++i) pairs.insert(pairs.end(), {scales[i], shifts[i]});
  auto norm = std::make_unique<VulkanNorm>(context_, scales.size());
  send(norm->scale_shift, 0, std::as_bytes(std::span(pairs)));
  return norm;
}

void VulkanBackend::do_layer_norm(const Norm& norm, const Rows& x, const Rows& y) {
  if (x.count == 0) return;
  const std::lock_guard lock(context_->mutex);
  const auto& weights = static_cast<const VulkanNorm&>(norm);
  const BoundRows from(x), to(y);
  const Pipeline& pipeline =
      kernel(kernel_name("layer_norm", {{context_->device.abilities().subgroups, "SUBGROUPS"},
                                        {from.element == Element::float16, "HALF"}}),
             {tiles_.row_local});
  struct {
    uint32_t width, x_offset, x_stride, y_offset, y_stride;
  } call{static_cast<uint32_t>(x.width), from.offset, from.stride, to.offset, to.stride};
  constexpr size_t kMostRows = 65535;
  for (size_t first = 0; first < x.count; first += kMostRows) {
    const auto count = static_cast<uint32_t>(std::min(kMostRows, x.count - first));
    call.x_offset = from.offset + static_cast<uint32_t>(first) * from.stride;
    call.y_offset = to.offset + static_cast<uint32_t>(first) * to.stride;
    context_->stream.run(pipeline, {from.view, to.view, weights.scale_shift.view()}, call, {count},
                         8.0 * static_cast<double>(count) * static_cast<double>(x.width));
  }
  context_->stream.pace();
}

}  // namespace sotto::vk
