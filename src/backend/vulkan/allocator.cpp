#include "backend/vulkan/allocator.h"

#include <algorithm>

namespace sotto::vk {
namespace {

constexpr VkDeviceSize kBlockBytes = VkDeviceSize{32} << 20;

VkDeviceSize round_up(VkDeviceSize value, VkDeviceSize unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

Allocator::~Allocator() {
  for (Block& block : blocks_) destroy(block);
}

void Allocator::destroy(Block& block) noexcept {
  device_.call().destroy_buffer(device_.handle(), block.buffer, nullptr);
  device_.call().free_memory(device_.handle(), block.memory, nullptr);
}

Allocator::Block& Allocator::add_block(VkDeviceSize bytes, Place place) {
  const DeviceFunctions& call = device_.call();
  Block block{.place = place, .bytes = bytes};
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  device_.check("vkCreateBuffer", call.create_buffer(device_.handle(), &info, nullptr, &block.buffer));
  try {
    VkMemoryRequirements needs{};
    call.buffer_requirements(device_.handle(), block.buffer, &needs);
    constexpr VkMemoryPropertyFlags kReachable =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryAllocateInfo memory{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex =
        place == Place::device
            ? device_.memory_type(needs.memoryTypeBits, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
            : device_.memory_type(needs.memoryTypeBits, kReachable,
                                  place == Place::download ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT : 0);
    device_.check("vkAllocateMemory",
                  call.allocate_memory(device_.handle(), &memory, nullptr, &block.memory));
    device_.check("vkBindBufferMemory", call.bind_memory(device_.handle(), block.buffer, block.memory, 0));
    void* mapped = nullptr;
    if (place != Place::device)
      device_.check("vkMapMemory",
                    call.map_memory(device_.handle(), block.memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    block.mapped = static_cast<std::byte*>(mapped);
  } catch (const Error& error) {
    destroy(block);
    if (error.code() != ErrorCode::out_of_memory) throw;
    throw Error(ErrorCode::out_of_memory, "{} has no room for another {:.1f} MiB. {}", device_.name(),
                static_cast<double>(bytes) / (1 << 20), error.what());
  }
  block.free[0] = bytes;
  return blocks_.emplace_back(std::move(block));
}

View Allocator::allocate(VkDeviceSize bytes, Place place) {
  bytes = round_up(std::max<VkDeviceSize>(bytes, 1), kAlignment);
  const auto take = [&](Block& block) -> std::optional<View> {
    for (auto piece = block.free.begin(); piece != block.free.end(); ++piece) {
      if (piece->second < bytes) continue;
      const auto [offset, size] = *piece;
      block.free.erase(piece);
      if (size > bytes) block.free[offset + bytes] = size - bytes;
      return View{block.buffer, offset, bytes, block.mapped == nullptr ? nullptr : block.mapped + offset};
    }
    return std::nullopt;
  };
  for (Block& block : blocks_)
    if (block.place == place)
      if (const auto view = take(block)) return *view;
  return *take(add_block(std::max(bytes, kBlockBytes), place));
}

void Allocator::free(const View& view) noexcept {
  const auto block = std::find_if(blocks_.begin(), blocks_.end(),
                                  [&](const Block& each) { return each.buffer == view.buffer; });
  if (block == blocks_.end()) return;
  auto piece = block->free.emplace(view.offset, view.bytes).first;
  if (const auto next = std::next(piece);
      next != block->free.end() && piece->first + piece->second == next->first) {
    piece->second += next->second;
    block->free.erase(next);
  }
  if (piece != block->free.begin()) {
    const auto before = std::prev(piece);
    if (before->first + before->second == piece->first) {
      before->second += piece->second;
      block->free.erase(piece);
    }
  }
  if (block->free.size() == 1 && block->free.begin()->second == block->bytes) {
    destroy(*block);
    blocks_.erase(block);
  }
}

VkDeviceSize Allocator::bytes_in_use() const noexcept {
  VkDeviceSize bytes = 0;
  for (const Block& block : blocks_) bytes += block.bytes;
  return bytes;
}

}  // namespace sotto::vk
