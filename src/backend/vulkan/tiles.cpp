#include "backend/vulkan/tiles.h"

#include <algorithm>

namespace sotto::vk {
namespace {

enum class DeviceClass { discrete, integrated, software };

DeviceClass class_of(const Device& device) {
  switch (device.properties().deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return DeviceClass::software;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return DeviceClass::integrated;
    default:
      return DeviceClass::discrete;
  }
}

bool fits(const Device& device, const MatrixTile& tile) {
  constexpr uint32_t kBlockValues = 8, kValueBytes = 4;
  const uint32_t shared = (tile.tile_rows + tile.tile_outputs) * tile.blocks * kBlockValues * kValueBytes;
  return shared <= device.limits().maxComputeSharedMemorySize &&
         tile.local() <= device.limits().maxComputeWorkGroupInvocations;
}

constexpr MatrixTile kSmallest{32, 32, 4, 4, 1};  // 2 KiB and 64 invocations: every device has that

}  // namespace

Tiles tiles_for(const Device& device) {
  Tiles tiles;
  const DeviceClass kind = class_of(device);
  if (kind == DeviceClass::software) {
    tiles.row_local = tiles.encoder_local = tiles.cached_local = tiles.few_local = 4 * device.subgroup_size();
    tiles.lanes = device.subgroup_size();
    if (device.abilities().lanes) tiles.encoder_local = device.subgroup_size();
  } else if (kind == DeviceClass::discrete) {
    tiles.row_local = tiles.cached_local = 256;
  }
  // Power-of-two reductions, whatever the subgroup's size is.
  const auto power_of_two = [&](uint32_t wanted) {
    uint32_t local = 1;
    while (local * 2 <= std::min(wanted, device.limits().maxComputeWorkGroupInvocations)) local *= 2;
    return local;
  };
  tiles.row_local = power_of_two(tiles.row_local);
  tiles.cached_local = power_of_two(tiles.cached_local);
  tiles.sample_local = power_of_two(tiles.sample_local);
  tiles.few_local = power_of_two(tiles.few_local);
  tiles.many = tile_candidates(device).front();
  return tiles;
}

std::vector<MatrixTile> tile_candidates(const Device& device) {
  std::vector<MatrixTile> candidates;
  switch (class_of(device)) {
    case DeviceClass::discrete:
      candidates = {{64, 64, 8, 4, 2}, {128, 64, 8, 8, 2}, {128, 128, 8, 8, 2}, {64, 64, 4, 4, 2}};
      break;
    case DeviceClass::integrated:
      candidates = {{64, 64, 4, 4, 1}, {64, 64, 8, 4, 2}, {32, 64, 4, 4, 2}};
      break;
    case DeviceClass::software:
      break;
  }
  candidates.push_back(kSmallest);
  std::erase_if(candidates, [&](const MatrixTile& tile) { return !fits(device, tile); });
  return candidates;
}

}  // namespace sotto::vk
