#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "backend/vulkan/cache_file.h"
#include "backend/vulkan/device.h"

namespace sotto::vk {

struct Pipeline {
  VkPipeline handle = VK_NULL_HANDLE;
  uint32_t local = 1;  // invocations of a workgroup
};

// The kernels of a device, compiled when they are first needed. All of them take up to kBuffers buffers and
// kPushBytes bytes of parameters, so they share one layout.
class Pipelines {
 public:
  static constexpr uint32_t kBuffers = 6, kPushBytes = 64;

  Pipelines(Device& device, const std::filesystem::path& cache_folder);
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // constants[i] is the specialization constant i; the first one is the number of invocations. Names:
  // spirv.h.
  const Pipeline& get(const std::string& name, const std::vector<uint32_t>& constants);

  VkPipelineLayout layout() const noexcept { return layout_; }
  VkDescriptorSetLayout set_layout() const noexcept { return set_layout_; }

 private:
  VkPipeline compile(const std::string& name, const std::vector<uint32_t>& constants);
  void keep() noexcept;

  Device& device_;
  CacheFile file_;
  VkDescriptorSetLayout set_layout_ = VK_NULL_HANDLE;
  VkPipelineLayout layout_ = VK_NULL_HANDLE;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  bool grown_ = false;  // pipelines were compiled that the file does not know
  std::map<std::pair<std::string, std::vector<uint32_t>>, Pipeline> pipelines_;
};

// A kernel's name: the definitions that hold, behind the name of its source.
struct Definition {
  bool holds;
  const char* name;
};
std::string kernel_name(const char* source, std::initializer_list<Definition> definitions);

}  // namespace sotto::vk
