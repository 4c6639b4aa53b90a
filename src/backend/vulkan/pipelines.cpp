#include "backend/vulkan/pipelines.h"

#include <algorithm>
#include <array>

#include "backend/vulkan/spirv.h"

namespace sotto::vk {
namespace {

// What compiled pipelines depend on: the driver says by the UUID when its own format changes.
std::string cache_key(const VkPhysicalDeviceProperties& properties) {
  std::string key = fmt::format("pipelines {:08x} {:08x} {:08x} ", properties.vendorID, properties.deviceID,
                                properties.driverVersion);
  for (const uint8_t byte : properties.pipelineCacheUUID) key += fmt::format("{:02x}", byte);
  return key;
}

}  // namespace

std::string kernel_name(const char* source, std::initializer_list<Definition> definitions) {
  std::string name = source;
  for (const Definition& definition : definitions)
    if (definition.holds) name += std::string(".") + definition.name;
  return name;
}

Pipelines::Pipelines(Device& device, const std::filesystem::path& cache_folder)
    : device_(device), file_(cache_folder, cache_key(device.properties())) {
  const DeviceFunctions& call = device.call();
  std::array<VkDescriptorSetLayoutBinding, kBuffers> bindings{};
  for (uint32_t i = 0; i < kBuffers; ++i)
    bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
  VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  set.bindingCount = kBuffers;
  set.pBindings = bindings.data();
  device.check("vkCreateDescriptorSetLayout",
               call.create_set_layout(device.handle(), &set, nullptr, &set_layout_));
  const VkPushConstantRange push{VK_SHADER_STAGE_COMPUTE_BIT, 0, kPushBytes};
  VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  layout.setLayoutCount = 1;
  layout.pSetLayouts = &set_layout_;
  layout.pushConstantRangeCount = 1;
  layout.pPushConstantRanges = &push;
  device.check("vkCreatePipelineLayout",
               call.create_pipeline_layout(device.handle(), &layout, nullptr, &layout_));

  const std::vector<std::byte> known = file_.read();
  VkPipelineCacheCreateInfo cache{VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  cache.initialDataSize = known.size();
  cache.pInitialData = known.data();
  device.check("vkCreatePipelineCache",
               call.create_pipeline_cache(device.handle(), &cache, nullptr, &cache_));
  grown_ = known.empty();
}

Pipelines::~Pipelines() {
  if (!device_.is_lost() && grown_ && !pipelines_.empty()) keep();
  const DeviceFunctions& call = device_.call();
  for (const auto& [key, pipeline] : pipelines_)
    call.destroy_pipeline(device_.handle(), pipeline.handle, nullptr);
  call.destroy_pipeline_cache(device_.handle(), cache_, nullptr);
  call.destroy_pipeline_layout(device_.handle(), layout_, nullptr);
  call.destroy_set_layout(device_.handle(), set_layout_, nullptr);
}

void Pipelines::keep() noexcept try {
  size_t bytes = 0;
  const DeviceFunctions& call = device_.call();
  if (call.pipeline_cache_data(device_.handle(), cache_, &bytes, nullptr) != VK_SUCCESS) return;
  std::vector<std::byte> data(bytes);
  if (call.pipeline_cache_data(device_.handle(), cache_, &bytes, data.data()) != VK_SUCCESS) return;
  data.resize(bytes);
  file_.write(data);
} catch (const std::exception&) {
  // Nothing is lost but the time to compile again.
}

const Pipeline& Pipelines::get(const std::string& name, const std::vector<uint32_t>& constants) {
  Pipeline& pipeline = pipelines_[{name, constants}];
  if (pipeline.handle == VK_NULL_HANDLE) {
    pipeline.handle = compile(name, constants);
    pipeline.local = constants.front();
  }
  return pipeline;
}

VkPipeline Pipelines::compile(const std::string& name, const std::vector<uint32_t>& constants) {
  const DeviceFunctions& call = device_.call();
  const auto all = built_in_spirv();
  const auto spirv =
      std::find_if(all.begin(), all.end(), [&](const Spirv& each) { return each.name == name; });
  if (spirv == all.end()) throw Error(ErrorCode::internal, "this build has no Vulkan kernel '{}'", name);
  VkShaderModuleCreateInfo shader{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
  shader.codeSize = spirv->code().size_bytes();
  shader.pCode = spirv->code().data();
  VkShaderModule module = VK_NULL_HANDLE;
  device_.check("vkCreateShaderModule", call.create_shader(device_.handle(), &shader, nullptr, &module));

  std::vector<VkSpecializationMapEntry> entries;
  for (uint32_t i = 0; i < constants.size(); ++i)
    entries.push_back({i, i * static_cast<uint32_t>(sizeof(uint32_t)), sizeof(uint32_t)});
  const VkSpecializationInfo special{static_cast<uint32_t>(entries.size()), entries.data(),
                                     constants.size() * sizeof(uint32_t), constants.data()};
  VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO};
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &special;
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result = call.create_pipelines(device_.handle(), cache_, 1, &info, nullptr, &pipeline);
  call.destroy_shader(device_.handle(), module, nullptr);
  if (result < 0 && result != VK_ERROR_DEVICE_LOST && result != VK_ERROR_OUT_OF_DEVICE_MEMORY &&
      result != VK_ERROR_OUT_OF_HOST_MEMORY)
    throw Error(ErrorCode::device, "The Vulkan driver of {} cannot compile the kernel '{}' ({})",
                device_.name(), name, result_text(result));
  device_.check("vkCreateComputePipelines", result);
  return pipeline;
}

}  // namespace sotto::vk
