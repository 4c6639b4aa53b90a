#pragma once

#include <cstdint>
#include <list>
#include <map>

#include "backend/vulkan/device.h"

namespace sotto::vk {

// Some bytes of a buffer on the device.
struct View {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0, bytes = 0;
  void* mapped = nullptr;  // the first byte, where the program can reach it
};

enum class Place { device, upload, download };

// Gives out pieces of large blocks of memory, one buffer for each block. A block that nobody uses any more
// goes back to the driver at once, so that unloading a model frees what it had.
class Allocator {
 public:
  explicit Allocator(Device& device) : device_(device) {}
  ~Allocator();
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  View allocate(VkDeviceSize bytes, Place place);  // throws Error(out_of_memory) with the size
  void free(const View& view) noexcept;
  VkDeviceSize bytes_in_use() const noexcept;  // of the driver's memory

  static constexpr VkDeviceSize kAlignment = 256;  // the largest that a device may ask for

 private:
  struct Block {
    Place place{};
    VkDeviceMemory memory = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceSize bytes = 0;
    std::byte* mapped = nullptr;
    std::map<VkDeviceSize, VkDeviceSize> free;  // offset and size of what is left
  };
  Block& add_block(VkDeviceSize bytes, Place place);
  void destroy(Block& block) noexcept;

  Device& device_;
  std::list<Block> blocks_;
};

}  // namespace sotto::vk
