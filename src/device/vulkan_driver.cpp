#include "device/vulkan_driver.h"

#include <fmt/format.h>

namespace sotto::vulkan {
namespace {

template <class Function>
void fill(Function& function, const Loader& loader, Instance instance, const char* name) {
  function = reinterpret_cast<Function>(loader.instance_function(instance, name));
  if (function == nullptr)
    throw Error(ErrorCode::unsupported, "{} has no function {}: it is too old",
                loader.library.path().string(), name);
}

}  // namespace

std::string version_text(uint32_t packed) {
  return fmt::format("{}.{}.{}", packed >> 22 & 0x7f, packed >> 12 & 0x3ff, packed & 0xfff);
}

Loader Loader::open(const std::filesystem::path& path) {
  Loader loader{.library = DynamicLibrary::open(path)};
  loader.instance_function = loader.library.symbol<decltype(instance_function)>("vkGetInstanceProcAddr");
  fill(loader.instance_version, loader, nullptr, "vkEnumerateInstanceVersion");
  fill(loader.instance_extensions, loader, nullptr, "vkEnumerateInstanceExtensionProperties");
  fill(loader.create_instance, loader, nullptr, "vkCreateInstance");
  return loader;
}

InstanceFunctions::InstanceFunctions(const Loader& loader, Instance instance) {
  fill(physical_devices, loader, instance, "vkEnumeratePhysicalDevices");
  fill(device_extensions, loader, instance, "vkEnumerateDeviceExtensionProperties");
  fill(properties, loader, instance, "vkGetPhysicalDeviceProperties2");
  fill(features, loader, instance, "vkGetPhysicalDeviceFeatures2");
  fill(memory_properties, loader, instance, "vkGetPhysicalDeviceMemoryProperties2");
  fill(queue_families, loader, instance, "vkGetPhysicalDeviceQueueFamilyProperties");
  fill(create_device, loader, instance, "vkCreateDevice");
  fill(destroy_device, loader, instance, "vkDestroyDevice");
  fill(allocate_memory, loader, instance, "vkAllocateMemory");
  fill(free_memory, loader, instance, "vkFreeMemory");
}

std::string error_text(Result result) {
  switch (result) {
    case 0:
      return "VK_SUCCESS";
    case -1:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case -2:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case -3:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case -4:
      return "VK_ERROR_DEVICE_LOST";
    case -6:
      return "VK_ERROR_LAYER_NOT_PRESENT";
    case -7:
      return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case -8:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case kIncompatibleDriver:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case -10:
      return "VK_ERROR_TOO_MANY_OBJECTS";
    default:
      return fmt::format("VkResult {}", result);
  }
}

}  // namespace sotto::vulkan
