#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/vulkan/vulkan_api.h"
#include "backend/vulkan/vulkan_backend.h"
#include "platform/dynamic_library.h"

namespace sotto::vk {

// What the kernels use where a device has it. Each has a plain path beside it.
struct Abilities {
  bool storage16 = false;  // 16-bit values in buffers: activations and caches in float16
  bool float16 = false;    // 16-bit values in shared memory
  bool dot = false;        // integer dot product of packed bytes
  bool subgroups = false;  // sums across a subgroup
  bool lanes = false;      // the kernels for drivers that compute on the CPU
  bool timeline = false;   // timeline semaphores instead of fences
};

// The loader and an instance of it.
class Instance {
 public:
  Instance(const std::filesystem::path& library, std::function<void(const std::string&)> on_message);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const InstanceFunctions& functions() const noexcept { return functions_; }
  std::vector<VkPhysicalDevice> devices() const;

 private:
  DynamicLibrary library_;
  std::function<void(const std::string&)> on_message_;
  VkInstance instance_ = nullptr;
  InstanceFunctions functions_{};
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

// A device that is open, with one queue, and what is known of it.
class Device {
 public:
  explicit Device(const VulkanOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceFunctions& call() const noexcept { return functions_; }
  VkDevice handle() const noexcept { return device_; }
  VkQueue queue() const noexcept { return queue_; }
  uint32_t queue_family() const noexcept { return queue_family_; }
  const Abilities& abilities() const noexcept { return abilities_; }
  const VkPhysicalDeviceProperties& properties() const noexcept { return properties_; }
  const VkPhysicalDeviceLimits& limits() const noexcept { return properties_.limits; }
  bool is_software() const noexcept { return properties_.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU; }
  uint32_t subgroup_size() const noexcept { return subgroup_size_; }
  std::string name() const { return properties_.deviceName; }

  // A type of memory with these properties, the first that a buffer of `type_bits` can use; where none has
  // `wished` too, one with `needed` alone. Throws Error(unsupported) where there is none at all.
  uint32_t memory_type(uint32_t type_bits, VkMemoryPropertyFlags needed, VkMemoryPropertyFlags wished) const;

  // As check(), but remembers a lost device.
  void check(const char* step, VkResult result);
  bool is_lost() const noexcept { return lost_; }

 private:
  void choose(const VulkanOptions& options);
  void ask(const std::string& without);
  void open();

  Instance instance_;
  VkPhysicalDevice physical_ = nullptr;
  VkPhysicalDeviceProperties properties_{};
  VkPhysicalDeviceMemoryProperties memory_{};
  Abilities abilities_;
  bool portability_subset_ = false, dot_is_core_ = false;
  uint32_t subgroup_size_ = 1, queue_family_ = 0;
  VkDevice device_ = nullptr;
  DeviceFunctions functions_{};
  VkQueue queue_ = nullptr;
  bool lost_ = false;
};

}  // namespace sotto::vk
