#include <cstring>

#include "backend/vulkan/vulkan_types.h"

namespace sotto::vk {

BoundRows::BoundRows(const Rows& rows) : element(static_cast<const VulkanMemory*>(rows.memory)->element) {
  const auto& memory = *static_cast<const VulkanMemory*>(rows.memory);
  const size_t size = element_bytes(element);
  const size_t byte = rows.count == 0 ? 0 : rows.offset * size,
               border = byte / Allocator::kAlignment * Allocator::kAlignment;
  view = memory.buffer.from(border);
  offset = static_cast<uint32_t>((byte - border) / size);
  stride = static_cast<uint32_t>(rows.stride);
}

std::unique_ptr<Memory> VulkanBackend::do_allocate(size_t elements, Precision precision) {
  return std::make_unique<VulkanMemory>(context_, elements,
                                        precision == Precision::full ? Element::float32 : activation_);
}

namespace {

struct WriteCall {
  uint32_t count, width, offset, stride, zero;
};
struct ReadCall {
  uint32_t count, width, offset, stride;
};

// Workgroups along a row; where that is too long for them, they take several elements.
uint32_t columns(size_t width, const Pipeline& pipeline) {
  return std::min(divide_up(width, pipeline.local), 65535u);
}

// How many rows of this width one call moves: a part of the transfer memory, and of what a kernel can count.
size_t rows_at_once(size_t width) {
  constexpr size_t kMostBytes = size_t{16} << 20, kMostRows = 65535;
  return std::clamp<size_t>(kMostBytes / (width * sizeof(float)), 1, kMostRows);
}

}  // namespace

void VulkanBackend::do_write(const Rows& to, std::span<const float> from) {
  if (from.empty()) return;
  const std::lock_guard lock(context_->mutex);
  Stream& stream = context_->stream;
  for (size_t first = 0; first < to.count; first += rows_at_once(to.width)) {
    const Rows part = to.rows(first, std::min(rows_at_once(to.width), to.count - first));
    const size_t values = part.count * part.width;
    const View staged = stream.upload(values * sizeof(float));
    std::memcpy(staged.mapped, from.data() + first * to.width, values * sizeof(float));
    const BoundRows bound(part);
    const Pipeline& pipeline =
        kernel(kernel_name("write_rows", {{bound.element == Element::float16, "HALF"}}), {element_local()});
    const WriteCall call{static_cast<uint32_t>(part.count), static_cast<uint32_t>(part.width), bound.offset,
                         bound.stride, 0};
    stream.run(pipeline, {staged, bound.view}, call,
               {columns(part.width, pipeline), static_cast<uint32_t>(part.count)},
               static_cast<double>(values));
    stream.pace();
  }
}

void VulkanBackend::do_read(const Rows& from, std::span<float> to) {
  if (to.empty()) return;
  const std::lock_guard lock(context_->mutex);
  Stream& stream = context_->stream;
  for (size_t first = 0; first < from.count; first += rows_at_once(from.width)) {
    const Rows part = from.rows(first, std::min(rows_at_once(from.width), from.count - first));
    const size_t values = part.count * part.width;
    const View staged = stream.download(values * sizeof(float));
    const BoundRows bound(part);
    const Pipeline& pipeline =
        kernel(kernel_name("read_rows", {{bound.element == Element::float16, "HALF"}}), {element_local()});
    const ReadCall call{static_cast<uint32_t>(part.count), static_cast<uint32_t>(part.width), bound.offset,
                        bound.stride};
    stream.run(pipeline, {bound.view, staged}, call,
               {columns(part.width, pipeline), static_cast<uint32_t>(part.count)},
               static_cast<double>(values));
    stream.finish();
    std::memcpy(to.data() + first * from.width, staged.mapped, values * sizeof(float));
  }
}

void VulkanBackend::do_fill_zero(const Rows& rows) {
  if (rows.count == 0 || rows.width == 0) return;
  const std::lock_guard lock(context_->mutex);
  const BoundRows bound(rows);
  const Pipeline& pipeline =
      kernel(kernel_name("write_rows", {{bound.element == Element::float16, "HALF"}}), {element_local()});
  constexpr size_t kMostRows = 65535;
  for (size_t first = 0; first < rows.count; first += kMostRows) {
    const auto count = static_cast<uint32_t>(std::min(kMostRows, rows.count - first));
    const WriteCall call{count, static_cast<uint32_t>(rows.width),
                         bound.offset + static_cast<uint32_t>(first) * bound.stride, bound.stride, 1};
    context_->stream.run(pipeline, {bound.view, bound.view}, call, {columns(rows.width, pipeline), count},
                         static_cast<double>(count) * static_cast<double>(rows.width));
  }
  context_->stream.pace();
}

}  // namespace sotto::vk
