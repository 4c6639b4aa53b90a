#pragma once

#include <array>
#include <memory>
#include <string>

#include "backend/cpu/cpu_backend.h"
#include "device/backends.h"
#include "device/compute_types.h"
#include "device/detect.h"
#include "unit/device/wrapped_backend.h"

namespace sotto::test {

inline Device gpu(DeviceKind kind, int index, std::string name, std::string architecture,
                  std::string generation) {
  Device device;
  device.kind = kind;
  device.index = index;
  device.name = std::move(name);
  device.architecture = std::move(architecture);
  device.generation = std::move(generation);
  device.memory_total = uint64_t{8} << 30;
  device.memory_free = uint64_t{7} << 30;
  device.driver = "a driver 1.0";
  device.compute_types = kind == DeviceKind::cuda   ? cuda_compute_types(device.architecture)
                         : kind == DeviceKind::rocm ? rocm_compute_types(device.architecture)
                                                    : vulkan_compute_types(true);
  return device;
}

inline Device radeon(int index = 0) {
  return gpu(DeviceKind::rocm, index, "AMD Radeon RX 5700 XT", "gfx1010", "RDNA 1");
}

inline Device geforce(int index = 0) {
  Device device = gpu(DeviceKind::cuda, index, "NVIDIA GeForce RTX 4090", "sm_89", "Ada");
  device.uuid = index == 0 ? "3f2a91c0-0000-1111-2222-333344445555" : "3f2a91c1-0000-1111-2222-333344445555";
  return device;
}

inline Catalogue with_cpu(std::vector<Device> devices, std::vector<Finding> findings = {}) {
  devices.push_back(cpu_device());
  return {std::move(devices), std::move(findings)};
}

inline bool supports_all(const Device&, std::string&) {
  return true;
}

inline std::unique_ptr<Backend> open_the_cpu(const Device&, ComputeType type, int threads) {
  return make_cpu_backend({.compute_type = type, .threads = threads});
}

inline std::unique_ptr<Backend> open_as_gpu(const Device&, ComputeType type, int threads) {
  return std::make_unique<WrappedBackend>(make_cpu_backend({.compute_type = type, .threads = threads}));
}

inline std::unique_ptr<Backend> open_wrong(const Device&, ComputeType type, int threads) {
  return std::make_unique<WrappedBackend>(make_cpu_backend({.compute_type = type, .threads = threads}),
                                          1.25f);
}

inline std::unique_ptr<Backend> open_without_memory(const Device&, ComputeType, int) {
  throw Error(ErrorCode::out_of_memory, "hipMalloc: 2 GiB were refused");
}

using Opener = std::unique_ptr<Backend> (*)(const Device&, ComputeType, int);

// A build that holds kernels for this kind of GPU as well.
inline std::array<BackendEntry, 2> build_with(DeviceKind kind, Opener open = open_as_gpu) {
  return {BackendEntry{kind, supports_all, open}, BackendEntry{DeviceKind::cpu, supports_all, open_the_cpu}};
}

}  // namespace sotto::test
