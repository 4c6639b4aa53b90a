#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace sotto {

// How to compute on a device that a Vulkan driver serves. docs/vulkan.md has the whole story.
struct VulkanOptions {
  ComputeType compute_type = ComputeType::automatic;  // float16 where activations can be stored so
  std::filesystem::path library;                      // the loader; empty: the system's own
  std::string uuid;                                   // the device's; empty: the one at `index`
  int index = 0;
  // Abilities of the device that are not to be used, comma-separated (vulkan_abilities()), or "all". Empty:
  // what SOTTO_VULKAN_WITHOUT says.
  std::string without;
  std::filesystem::path cache;  // folder for compiled pipelines and measurements; empty: nothing is kept
  // Set: the Khronos validation layer watches every call, and its words come here. Throws Error(unsupported)
  // where the layer is not installed.
  std::function<void(const std::string&)> on_message;
};

// Throws Error(device) where there is no loader or no such device, Error(unsupported) where the device lacks
// something that is needed, and Error(usage) for an unknown ability.
std::unique_ptr<Backend> make_vulkan_backend(const VulkanOptions& options);

// What can be left out: "storage16", "float16", "dot", "subgroups", "lanes", "timeline".
const std::vector<std::string>& vulkan_abilities();

}  // namespace sotto
