#pragma once

#include <filesystem>

namespace sotto::vk {

class VulkanBackend;

// Measures the candidates of tile_candidates() on a small product, once for a device and driver, and makes
// the backend use the quickest. No tile changes a number.
void choose_tile(VulkanBackend& backend, const std::filesystem::path& cache_folder);

}  // namespace sotto::vk
