#include "device/backends.h"

#include "backend/cpu/cpu_backend.h"
#include "backend/gpu/gpu_backend.h"
#include "device/messages.h"
#include "device/vulkan_entry.h"

namespace sotto {
namespace {

bool every_cpu(const Device&, std::string&) {
  return true;
}

std::unique_ptr<Backend> open_cpu(const Device&, ComputeType type, int threads) {
  return make_cpu_backend({.compute_type = type, .threads = threads});
}

gpu::Vendor vendor_of(const Device& device) {
  return device.kind == DeviceKind::cuda ? gpu::Vendor::nvidia : gpu::Vendor::amd;
}

bool fitting_gpu(const Device& device, std::string& why_not) {
  const auto reason = gpu::why_no_image(gpu::images(), vendor_of(device), device.architecture,
                                        static_cast<int>(device.driver_version));
  if (reason) why_not = *reason;
  return !reason;
}

std::unique_ptr<Backend> open_gpu(const Device& device, ComputeType type, int) {
  return make_gpu_backend({vendor_of(device), device.library, device.index, type, {}});
}

// What this build holds; a backend that was left out has no entries.
const std::vector<BackendEntry>& entries() {
  static const std::vector<BackendEntry> list = [] {
    std::vector<BackendEntry> made{{DeviceKind::cuda, fitting_gpu, open_gpu},
                                   {DeviceKind::rocm, fitting_gpu, open_gpu},
                                   {DeviceKind::cpu, every_cpu, open_cpu}};
    for (const BackendEntry& entry : vulkan_entries()) made.push_back(entry);
    return made;
  }();
  return list;
}

}  // namespace

std::span<const BackendEntry> built_in_backends() noexcept {
  return entries();
}

const BackendEntry* find_backend(std::span<const BackendEntry> backends, DeviceKind kind) noexcept {
  for (const BackendEntry& backend : backends)
    if (backend.kind == kind) return &backend;
  return nullptr;
}

std::optional<Finding> missing_kernels(std::span<const BackendEntry> backends, const Device& device) {
  const BackendEntry* backend = find_backend(backends, device.kind);
  std::string why_not;
  if (backend != nullptr && backend->supports(device, why_not)) return std::nullopt;
  if (backend == nullptr) {
    std::string kinds;
    for (const BackendEntry& each : backends)
      kinds += (kinds.empty() ? "" : ", ") + std::string(device_kind_name(each.kind));
    why_not = words::no_kernels_in_build(kinds);
  }
  return Finding{FindingCode::no_kernels, device.name, why_not};
}

}  // namespace sotto
