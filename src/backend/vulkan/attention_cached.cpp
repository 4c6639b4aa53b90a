#include <algorithm>
#include <cstring>

#include "backend/vulkan/vulkan_types.h"

namespace sotto::vk {
namespace {

VkDeviceSize bytes_of_layer(const CacheShape& shape, Element element) {
  const VkDeviceSize bytes = VkDeviceSize{2} * static_cast<VkDeviceSize>(shape.entries) *
                             static_cast<VkDeviceSize>(shape.positions) *
                             static_cast<VkDeviceSize>(shape.width) * element_bytes(element);
  return (bytes + Allocator::kAlignment - 1) / Allocator::kAlignment * Allocator::kAlignment;
}

}  // namespace

struct VulkanBackend::CachedCall {
  const CacheMemory& memory;
  const CacheShape& shape;
  int layer;
  Rows queries;
  View rows;
  Rows out;
  bool by_slot;
  std::span<const int> heads;  // whose weights are kept
  View kept;
};

CacheMemory::CacheMemory(const std::shared_ptr<Context>& context, const CacheShape& shape, Element type)
    : element(type),
      layer_bytes(bytes_of_layer(shape, type)),
      buffer(context, layer_bytes * static_cast<VkDeviceSize>(shape.layers)) {}

void VulkanBackend::check_cache_shape(const CacheShape& shape) const {
  const VkPhysicalDeviceLimits& limits = context_->device.limits();
  if (bytes_of_layer(shape, activation_) > limits.maxStorageBufferRange)
    throw Error(ErrorCode::out_of_memory,
                "{} has no buffer for {} entries of {} positions: they need {} bytes a layer, and {} is the "
                "most. Fewer "
                "windows at a time (--batch-size) need less",
                context_->device.name(), shape.entries, shape.positions, bytes_of_layer(shape, activation_),
                limits.maxStorageBufferRange);
  const size_t shared = (static_cast<size_t>(shape.positions) +
                         2 * static_cast<size_t>(shape.width / shape.heads) + 2 * tiles_.cached_local) *
                        sizeof(float);
  if (shared > limits.maxComputeSharedMemorySize)
    throw Error(ErrorCode::unsupported, "{} cannot attend to {} positions: it has {} bytes of shared memory",
                context_->device.name(), shape.positions, limits.maxComputeSharedMemorySize);
}

std::unique_ptr<SelfCache> VulkanBackend::do_make_self_cache(const CacheShape& shape) {
  check_cache_shape(shape);
  return std::make_unique<VulkanSelfCache>(context_, shape, activation_);
}

std::unique_ptr<CrossCache> VulkanBackend::do_make_cross_cache(const CacheShape& shape) {
  check_cache_shape(shape);
  return std::make_unique<VulkanCrossCache>(context_, shape, activation_);
}

View VulkanBackend::send_rows(std::span<const DecodeRow> rows) {
  static_assert(sizeof(DecodeRow) == 4 * sizeof(int32_t));  // as the kernels read it
  const View view = context_->stream.upload(rows.size_bytes());
  std::memcpy(view.mapped, rows.data(), rows.size_bytes());
  return view;
}

namespace {
struct StoreCall {
  uint32_t width, positions, offset, stride, by_row, entry;
};
}  // namespace

void VulkanBackend::do_store_cross(CrossCache& cache, int layer, int window, const Rows& kv) {
  const std::lock_guard lock(context_->mutex);
  const CacheMemory& memory = static_cast<VulkanCrossCache&>(cache).memory;
  const BoundRows from(kv);
  const Pipeline& pipeline =
      kernel(kernel_name("store_cache", {{memory.element == Element::float16, "HALF"}}), {element_local()});
  const StoreCall call{static_cast<uint32_t>(cache.shape().width),
                       static_cast<uint32_t>(cache.shape().positions),
                       from.offset,
                       from.stride,
                       0,
                       static_cast<uint32_t>(window)};
  context_->stream.run(pipeline, {from.view, memory.layer(layer), from.view}, call,
                       {divide_up(kv.width, pipeline.local), static_cast<uint32_t>(kv.count)},
                       static_cast<double>(kv.count * kv.width));
  context_->stream.pace();
}

void VulkanBackend::attend_cached(const CachedCall& call) {
  const Abilities& has = context_->device.abilities();
  const uint32_t width = static_cast<uint32_t>(call.shape.width),
                 heads = static_cast<uint32_t>(call.shape.heads);
  const uint32_t head = width / heads, positions = static_cast<uint32_t>(call.shape.positions);
  const BoundRows queries(call.queries), out(call.out);
  const Pipeline& pipeline =
      kernel(kernel_name("attend_cached",
                         {{has.subgroups, "SUBGROUPS"}, {call.memory.element == Element::float16, "HALF"}}),
             {tiles_.cached_local, head, positions, std::max(1u, tiles_.cached_local / head)});
  View chosen = call.rows;  // any buffer will do where no head is chosen
  if (!call.heads.empty()) {
    chosen = context_->stream.upload(call.heads.size_bytes());
    std::memcpy(chosen.mapped, call.heads.data(), call.heads.size_bytes());
  }
  const struct {
    uint32_t width, q_offset, q_stride, out_offset, out_stride, by_slot, chosen;
  } parameters{width,
               queries.offset,
               queries.stride,
               out.offset,
               out.stride,
               call.by_slot ? 1u : 0u,
               static_cast<uint32_t>(call.heads.size())};
  context_->stream.run(pipeline,
                       {queries.view, call.memory.layer(call.layer), out.view, call.rows, chosen,
                        call.heads.empty() ? out.view : call.kept},
                       parameters, {heads, static_cast<uint32_t>(call.queries.count)},
                       4.0 * static_cast<double>(call.queries.count) * positions * width);
}

void VulkanBackend::do_attend_self(SelfCache& cache, int layer, const Rows& qkv,
                                   std::span<const DecodeRow> rows, const Rows& out) {
  if (rows.empty()) return;
  const std::lock_guard lock(context_->mutex);
  const CacheMemory& memory = static_cast<VulkanSelfCache&>(cache).memory;
  const View sent = send_rows(rows);
  const Rows kv = qkv.columns(out.width, 2 * out.width);
  const BoundRows from(kv);
  const Pipeline& pipeline =
      kernel(kernel_name("store_cache", {{memory.element == Element::float16, "HALF"}}), {element_local()});
  const StoreCall call{static_cast<uint32_t>(cache.shape().width),
                       static_cast<uint32_t>(cache.shape().positions),
                       from.offset,
                       from.stride,
                       1,
                       0};
  context_->stream.run(pipeline, {from.view, memory.layer(layer), sent}, call,
                       {divide_up(kv.width, pipeline.local), static_cast<uint32_t>(rows.size())},
                       static_cast<double>(kv.count * kv.width));
  attend_cached({memory, cache.shape(), layer, qkv.columns(0, out.width), sent, out, true, {}, {}});
  context_->stream.pace();
}

void VulkanBackend::do_attend_cross(const CrossCache& cache, int layer, const Rows& q,
                                    std::span<const DecodeRow> rows, const Rows& out,
                                    const CrossWeightsRequest* weights) {
  if (rows.empty()) return;
  const std::lock_guard lock(context_->mutex);
  Stream& stream = context_->stream;
  const auto positions = static_cast<size_t>(cache.shape().positions);
  const std::span<const int> heads = weights != nullptr ? weights->heads : std::span<const int>();
  const size_t kept_values = rows.size() * heads.size() * positions;
  const View sent = send_rows(rows);
  const View kept = kept_values > 0 ? stream.download(kept_values * sizeof(float)) : View{};
  attend_cached({static_cast<const VulkanCrossCache&>(cache).memory, cache.shape(), layer, q, sent, out,
                 false, heads, kept});
  if (kept_values == 0) {
    stream.pace();
    return;
  }
  stream.finish();
  const auto* values = static_cast<const float*>(kept.mapped);
  weights->out->insert(weights->out->end(), values, values + kept_values);
}

void VulkanBackend::do_copy_slot(SelfCache& cache, int from, int to, int positions) {
  if (from == to || positions == 0) return;
  const std::lock_guard lock(context_->mutex);
  const CacheMemory& memory = static_cast<VulkanSelfCache&>(cache).memory;
  const CacheShape& shape = cache.shape();
  const VkDeviceSize row = static_cast<VkDeviceSize>(shape.width) * element_bytes(memory.element);
  const VkDeviceSize half =
      row * static_cast<VkDeviceSize>(shape.positions);  // all keys, or all values, of an entry
  std::vector<VkBufferCopy> regions;
  for (int layer = 0; layer < shape.layers; ++layer)
    for (VkDeviceSize part = 0; part < 2; ++part) {
      const VkDeviceSize base = static_cast<VkDeviceSize>(layer) * memory.layer_bytes + part * half;
      regions.push_back({base + static_cast<VkDeviceSize>(from) * 2 * half,
                         base + static_cast<VkDeviceSize>(to) * 2 * half,
                         row * static_cast<VkDeviceSize>(positions)});
    }
  context_->stream.copy(memory.buffer.view(), memory.buffer.view(), regions);
}

}  // namespace sotto::vk
