#pragma once

#include <string>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include "base/error.h"

// Vulkan's functions, filled at run time: nothing is linked.
namespace sotto::vk {

struct InstanceFunctions {
  PFN_vkDestroyInstance destroy_instance;
  PFN_vkEnumeratePhysicalDevices physical_devices;
  PFN_vkEnumerateDeviceExtensionProperties device_extensions;
  PFN_vkGetPhysicalDeviceProperties2 properties;
  PFN_vkGetPhysicalDeviceFeatures2 features;
  PFN_vkGetPhysicalDeviceMemoryProperties memory_properties;
  PFN_vkGetPhysicalDeviceQueueFamilyProperties queue_families;
  PFN_vkCreateDevice create_device;
  PFN_vkGetDeviceProcAddr device_function;
  PFN_vkCreateDebugUtilsMessengerEXT create_messenger;  // null without the layer
  PFN_vkDestroyDebugUtilsMessengerEXT destroy_messenger;

  InstanceFunctions() = default;
  InstanceFunctions(PFN_vkGetInstanceProcAddr lookup, VkInstance instance);
};

struct DeviceFunctions {
  PFN_vkDestroyDevice destroy_device;
  PFN_vkGetDeviceQueue queue;
  PFN_vkDeviceWaitIdle wait_idle;
  PFN_vkCreateBuffer create_buffer;
  PFN_vkDestroyBuffer destroy_buffer;
  PFN_vkGetBufferMemoryRequirements buffer_requirements;
  PFN_vkAllocateMemory allocate_memory;
  PFN_vkFreeMemory free_memory;
  PFN_vkBindBufferMemory bind_memory;
  PFN_vkMapMemory map_memory;
  PFN_vkCreateDescriptorSetLayout create_set_layout;
  PFN_vkDestroyDescriptorSetLayout destroy_set_layout;
  PFN_vkCreateDescriptorPool create_descriptor_pool;
  PFN_vkDestroyDescriptorPool destroy_descriptor_pool;
  PFN_vkResetDescriptorPool reset_descriptor_pool;
  PFN_vkAllocateDescriptorSets allocate_sets;
  PFN_vkUpdateDescriptorSets update_sets;
  PFN_vkCreatePipelineLayout create_pipeline_layout;
  PFN_vkDestroyPipelineLayout destroy_pipeline_layout;
  PFN_vkCreateShaderModule create_shader;
  PFN_vkDestroyShaderModule destroy_shader;
  PFN_vkCreatePipelineCache create_pipeline_cache;
  PFN_vkDestroyPipelineCache destroy_pipeline_cache;
  PFN_vkGetPipelineCacheData pipeline_cache_data;
  PFN_vkCreateComputePipelines create_pipelines;
  PFN_vkDestroyPipeline destroy_pipeline;
  PFN_vkCreateCommandPool create_command_pool;
  PFN_vkDestroyCommandPool destroy_command_pool;
  PFN_vkResetCommandPool reset_command_pool;
  PFN_vkAllocateCommandBuffers allocate_commands;
  PFN_vkBeginCommandBuffer begin_commands;
  PFN_vkEndCommandBuffer end_commands;
  PFN_vkCmdBindPipeline bind_pipeline;
  PFN_vkCmdBindDescriptorSets bind_sets;
  PFN_vkCmdPushConstants push_constants;
  PFN_vkCmdDispatch dispatch;
  PFN_vkCmdCopyBuffer copy_buffer;
  PFN_vkCmdPipelineBarrier barrier;
  PFN_vkQueueSubmit submit;
  PFN_vkCreateFence create_fence;
  PFN_vkDestroyFence destroy_fence;
  PFN_vkResetFences reset_fences;
  PFN_vkWaitForFences wait_fences;
  PFN_vkCreateSemaphore create_semaphore;
  PFN_vkDestroySemaphore destroy_semaphore;
  PFN_vkWaitSemaphores wait_semaphores;  // null without timeline semaphores

  DeviceFunctions() = default;
  DeviceFunctions(PFN_vkGetDeviceProcAddr lookup, VkDevice device);
};

std::string result_text(VkResult result);  // "VK_ERROR_DEVICE_LOST"

// The error that a refusal of the driver is: out of memory, or the device failed.
Error refusal(const char* step, VkResult result);

inline void check(const char* step, VkResult result) {
  if (result < 0) throw refusal(step, result);
}

}  // namespace sotto::vk
