#include <algorithm>

#include "backend/vulkan/vulkan_types.h"

namespace sotto::vk {

void VulkanBackend::do_attend_encoder(const Rows& qkv, const Rows& out, int heads, int windows) {
  const std::lock_guard lock(context_->mutex);
  const Device& device = context_->device;
  const size_t positions = qkv.count / static_cast<size_t>(windows), width = out.width;
  const auto head = static_cast<uint32_t>(width / static_cast<size_t>(heads));
  const BoundRows from(qkv), to(out);
  // Keys and values of a tile share half of what shared memory there must be.
  constexpr uint32_t kMostKeys = 32, kSharedFloats = 8192 / sizeof(float), kUnrolled = 256, kLaneHead = 64;
  const bool lanes = device.abilities().lanes && head == kLaneHead;  // Whisper's, always
  const uint32_t keys = lanes ? tiles_.encoder_local : std::clamp(kSharedFloats / head / 2, 1u, kMostKeys);
  const bool aligned = lanes && head % 8 == 0 && from.offset % 8 == 0 && from.stride % 8 == 0;
  const uint32_t queries = lanes ? 2 : 1;  // they share what a lane loads
  const Pipeline& pipeline =
      kernel(kernel_name("attend_encoder", {{lanes, "LANES"}, {from.element == Element::float16, "HALF"}}),
             {tiles_.encoder_local, head, keys, lanes ? keys : std::clamp(kUnrolled / head, 1u, keys),
              queries, aligned ? 1u : 0u});
  struct {
    uint32_t positions, width, qkv_offset, qkv_stride, out_offset, out_stride, first_window;
  } call{static_cast<uint32_t>(positions),
         static_cast<uint32_t>(width),
         from.offset,
         from.stride,
         to.offset,
         to.stride,
         0};
  const double window_work =
      4.0 * static_cast<double>(positions) * static_cast<double>(positions) * static_cast<double>(width);
  const auto at_once = static_cast<uint32_t>(std::max(1.0, context_->stream.piece_work() / window_work));
  for (uint32_t first = 0; first < static_cast<uint32_t>(windows); first += at_once) {
    const uint32_t count = std::min(at_once, static_cast<uint32_t>(windows) - first);
    call.first_window = first;
    context_->stream.run(
        pipeline, {from.view, to.view, from.view}, call,
        {divide_up(positions, size_t{pipeline.local} * queries), static_cast<uint32_t>(heads), count},
        window_work * count);
    context_->stream.pace();
  }
}

}  // namespace sotto::vk
