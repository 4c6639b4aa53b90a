// A Vulkan loader that passes every call on to the real one, but for the one that it is told to fail:
//   SOTTO_FAULT="vkAllocateMemory 3"  the third and every later call says that memory is out
//   SOTTO_FAULT="vkQueueSubmit 2"     the second and every later call says that the device is lost
#define VK_NO_PROTOTYPES
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

#include <dlfcn.h>
#include <vulkan/vulkan_core.h>

namespace {

std::atomic<int> calls{0};
PFN_vkGetInstanceProcAddr real_lookup = nullptr;
PFN_vkGetDeviceProcAddr real_device_lookup = nullptr;
PFN_vkAllocateMemory real_allocate = nullptr;
PFN_vkQueueSubmit real_submit = nullptr;

// Whether this call of the function is to fail.
bool fails(const char* function) {
  const char* fault = std::getenv("SOTTO_FAULT");
  if (fault == nullptr) return false;
  std::istringstream words(fault);
  std::string name;
  int first = 0;
  words >> name >> first;
  return name == function && ++calls >= first;
}

VKAPI_ATTR VkResult VKAPI_CALL allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                                        const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
  if (fails("vkAllocateMemory")) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  return real_allocate(device, info, callbacks, memory);
}

VKAPI_ATTR VkResult VKAPI_CALL submit(VkQueue queue, uint32_t count, const VkSubmitInfo* infos,
                                      VkFence fence) {
  if (fails("vkQueueSubmit")) return VK_ERROR_DEVICE_LOST;
  return real_submit(queue, count, infos, fence);
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_lookup(VkDevice device, const char* name) {
  const PFN_vkVoidFunction real = real_device_lookup(device, name);
  if (std::strcmp(name, "vkAllocateMemory") == 0) {
    real_allocate = reinterpret_cast<PFN_vkAllocateMemory>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(allocate);
  }
  if (std::strcmp(name, "vkQueueSubmit") == 0) {
    real_submit = reinterpret_cast<PFN_vkQueueSubmit>(real);
    return reinterpret_cast<PFN_vkVoidFunction>(submit);
  }
  return real;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(
    VkInstance instance, const char* name) {
  if (real_lookup == nullptr) {
    void* library = dlopen("libvulkan.so.1", RTLD_NOW);
    if (library == nullptr) return nullptr;
    real_lookup = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  }
  if (std::strcmp(name, "vkCreateInstance") == 0) calls = 0;
  const PFN_vkVoidFunction real = real_lookup(instance, name);
  if (std::strcmp(name, "vkGetDeviceProcAddr") != 0) return real;
  real_device_lookup = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
  return reinterpret_cast<PFN_vkVoidFunction>(device_lookup);
}
