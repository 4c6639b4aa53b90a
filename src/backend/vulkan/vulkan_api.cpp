#include "backend/vulkan/vulkan_api.h"

namespace sotto::vk {
namespace {

template <class Function, class Lookup, class Owner>
void find(Function& function, Lookup lookup, Owner owner, const char* name) {
  function = reinterpret_cast<Function>(lookup(owner, name));
}

template <class Function, class Lookup, class Owner>
void fill(Function& function, Lookup lookup, Owner owner, const char* name) {
  find(function, lookup, owner, name);
  if (function == nullptr)
    throw Error(ErrorCode::unsupported, "The Vulkan driver has no function {}: it is too old", name);
}

}  // namespace

InstanceFunctions::InstanceFunctions(PFN_vkGetInstanceProcAddr lookup, VkInstance instance) {
  fill(destroy_instance, lookup, instance, "vkDestroyInstance");
  fill(physical_devices, lookup, instance, "vkEnumeratePhysicalDevices");
  fill(device_extensions, lookup, instance, "vkEnumerateDeviceExtensionProperties");
  fill(properties, lookup, instance, "vkGetPhysicalDeviceProperties2");
  fill(features, lookup, instance, "vkGetPhysicalDeviceFeatures2");
  fill(memory_properties, lookup, instance, "vkGetPhysicalDeviceMemoryProperties");
  fill(queue_families, lookup, instance, "vkGetPhysicalDeviceQueueFamilyProperties");
  fill(create_device, lookup, instance, "vkCreateDevice");
  fill(device_function, lookup, instance, "vkGetDeviceProcAddr");
  find(create_messenger, lookup, instance, "vkCreateDebugUtilsMessengerEXT");
  find(destroy_messenger, lookup, instance, "vkDestroyDebugUtilsMessengerEXT");
}

DeviceFunctions::DeviceFunctions(PFN_vkGetDeviceProcAddr lookup, VkDevice device) {
  fill(destroy_device, lookup, device, "vkDestroyDevice");
  fill(queue, lookup, device, "vkGetDeviceQueue");
  fill(wait_idle, lookup, device, "vkDeviceWaitIdle");
  fill(create_buffer, lookup, device, "vkCreateBuffer");
  fill(destroy_buffer, lookup, device, "vkDestroyBuffer");
  fill(buffer_requirements, lookup, device, "vkGetBufferMemoryRequirements");
  fill(allocate_memory, lookup, device, "vkAllocateMemory");
  fill(free_memory, lookup, device, "vkFreeMemory");
  fill(bind_memory, lookup, device, "vkBindBufferMemory");
  fill(map_memory, lookup, device, "vkMapMemory");
  fill(create_set_layout, lookup, device, "vkCreateDescriptorSetLayout");
  fill(destroy_set_layout, lookup, device, "vkDestroyDescriptorSetLayout");
  fill(create_descriptor_pool, lookup, device, "vkCreateDescriptorPool");
  fill(destroy_descriptor_pool, lookup, device, "vkDestroyDescriptorPool");
  fill(reset_descriptor_pool, lookup, device, "vkResetDescriptorPool");
  fill(allocate_sets, lookup, device, "vkAllocateDescriptorSets");
  fill(update_sets, lookup, device, "vkUpdateDescriptorSets");
  fill(create_pipeline_layout, lookup, device, "vkCreatePipelineLayout");
  fill(destroy_pipeline_layout, lookup, device, "vkDestroyPipelineLayout");
  fill(create_shader, lookup, device, "vkCreateShaderModule");
  fill(destroy_shader, lookup, device, "vkDestroyShaderModule");
  fill(create_pipeline_cache, lookup, device, "vkCreatePipelineCache");
  fill(destroy_pipeline_cache, lookup, device, "vkDestroyPipelineCache");
  fill(pipeline_cache_data, lookup, device, "vkGetPipelineCacheData");
  fill(create_pipelines, lookup, device, "vkCreateComputePipelines");
  fill(destroy_pipeline, lookup, device, "vkDestroyPipeline");
  fill(create_command_pool, lookup, device, "vkCreateCommandPool");
  fill(destroy_command_pool, lookup, device, "vkDestroyCommandPool");
  fill(reset_command_pool, lookup, device, "vkResetCommandPool");
  fill(allocate_commands, lookup, device, "vkAllocateCommandBuffers");
  fill(begin_commands, lookup, device, "vkBeginCommandBuffer");
  fill(end_commands, lookup, device, "vkEndCommandBuffer");
  fill(bind_pipeline, lookup, device, "vkCmdBindPipeline");
  fill(bind_sets, lookup, device, "vkCmdBindDescriptorSets");
  fill(push_constants, lookup, device, "vkCmdPushConstants");
  fill(dispatch, lookup, device, "vkCmdDispatch");
  fill(copy_buffer, lookup, device, "vkCmdCopyBuffer");
  fill(barrier, lookup, device, "vkCmdPipelineBarrier");
  fill(submit, lookup, device, "vkQueueSubmit");
  fill(create_fence, lookup, device, "vkCreateFence");
  fill(destroy_fence, lookup, device, "vkDestroyFence");
  fill(reset_fences, lookup, device, "vkResetFences");
  fill(wait_fences, lookup, device, "vkWaitForFences");
  fill(create_semaphore, lookup, device, "vkCreateSemaphore");
  fill(destroy_semaphore, lookup, device, "vkDestroySemaphore");
  find(wait_semaphores, lookup, device, "vkWaitSemaphores");
}

std::string result_text(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "VK_ERROR_LAYER_NOT_PRESENT";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "VK_ERROR_TOO_MANY_OBJECTS";
    default:
      return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

Error refusal(const char* step, VkResult result) {
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY)
    return {ErrorCode::out_of_memory, "The GPU's memory does not suffice ({}: {})", step,
            result_text(result)};
  if (result == VK_ERROR_DEVICE_LOST)
    return {
        ErrorCode::device,
        "The GPU stopped answering and its driver gave it up ({}: {}). Another program may have crashed it, "
        "or one piece of work took too long",
        step, result_text(result)};
  return {ErrorCode::device, "The Vulkan driver refused {}: {}", step, result_text(result)};
}

}  // namespace sotto::vk
