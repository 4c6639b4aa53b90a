#include "backend/vulkan/vulkan_backend.h"

#include <utility>

#include "backend/vulkan/tile_choice.h"
#include "backend/vulkan/vulkan_types.h"

namespace sotto {
namespace vk {
namespace {

ComputeType resolve(ComputeType type, const Device& device) {
  const bool halves = device.abilities().storage16;
  switch (type) {
    case ComputeType::automatic:
      return halves ? ComputeType::float16 : ComputeType::float32;
    case ComputeType::int8:
      return ComputeType::int8_float32;
    case ComputeType::float32:
    case ComputeType::float16:
    case ComputeType::int8_float32:
      return type;
    case ComputeType::int8_float16:
      if (halves) return type;
      break;
    case ComputeType::bfloat16:
      break;
  }
  throw Error(ErrorCode::unsupported,
              "{} cannot compute in {} through Vulkan; it has: float32, float16, {}int8, "
              "int8_float32",
              device.name(), compute_type_name(type), halves ? "int8_float16, " : "");
}

}  // namespace

Buffer::Buffer(std::shared_ptr<Context> context, VkDeviceSize bytes, Place place)
    : context_(std::move(context)) {
  const std::lock_guard lock(context_->mutex);
  view_ = context_->allocator.allocate(bytes, place);
}

Buffer::~Buffer() {
  if (context_ == nullptr) return;
  const std::lock_guard lock(context_->mutex);
  try {
    if (!context_->device.is_lost() && !context_->stream.is_idle()) context_->stream.finish();
  } catch (const Error&) {
    // The device is lost: nothing uses the memory any more.
  }
  context_->allocator.free(view_);
}

Buffer::Buffer(Buffer&& other) noexcept
    : context_(std::move(other.context_)), view_(std::exchange(other.view_, {})) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(view_, other.view_);
  return *this;
}

View Buffer::from(VkDeviceSize offset) const noexcept {
  return {view_.buffer, view_.offset + offset, view_.bytes - offset, nullptr};
}

VulkanBackend::VulkanBackend(const VulkanOptions& options)
    : context_(std::make_shared<Context>(options)),
      compute_type_(resolve(options.compute_type, context_->device)),
      activation_((compute_type_ == ComputeType::float16 || compute_type_ == ComputeType::int8_float16) &&
                          context_->device.abilities().storage16
                      ? Element::float16
                      : Element::float32),
      tiles_(tiles_for(context_->device)) {
  choose_tile(*this, options.cache);
}

VulkanBackend::~VulkanBackend() = default;

std::string VulkanBackend::description() const {
  const Device& device = context_->device;
  const Abilities& has = device.abilities();
  std::string used;
  for (const auto& [is_used, name] : {std::pair{has.storage16, "storage16"},
                                      {has.float16, "float16"},
                                      {has.dot, "dot"},
                                      {has.subgroups, "subgroups"},
                                      {has.lanes, "lanes"},
                                      {has.timeline, "timeline"}})
    if (is_used) used += std::string(used.empty() ? "" : " ") + name;
  return fmt::format("Vulkan, {}, {}", device.name(), used.empty() ? "plain" : used);
}

}  // namespace vk

std::unique_ptr<Backend> make_vulkan_backend(const VulkanOptions& options) {
  return std::make_unique<vk::VulkanBackend>(options);
}

const std::vector<std::string>& vulkan_abilities() {
  static const std::vector<std::string> names{"storage16", "float16", "dot",
                                              "subgroups", "lanes",   "timeline"};
  return names;
}

}  // namespace sotto
