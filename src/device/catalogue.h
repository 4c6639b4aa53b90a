#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace sotto {

// The ways to reach a device. `metal` is Vulkan on MoltenVK, under the name that its owners know.
enum class DeviceKind { cuda, rocm, metal, vulkan, cpu };
std::string_view device_kind_name(DeviceKind kind) noexcept;

// Something that was seen and that keeps a device from being used, or is worth knowing. The code is stable;
// its words (one sentence, the next step) and its section of docs/gpu.md are in messages.cpp.
enum class FindingCode {
  no_gpu,     // no display device of a kind that could compute
  no_driver,  // a PCI device, but no driver library for it
  driver_too_old,
  runtime_sees_nothing,  // a runtime counts 0 devices while the kernel lists one
  comgr_missing,         // HIP's code-object manager (amd_comgr) is not there
  no_kernels,            // this build has no kernels for the architecture
  no_access,             // /dev/kfd or /dev/dri may not be opened: groups
  container_without_gpu,
  out_of_memory,  // not enough memory, or an allocation failed
  probe_hung,
  probe_crashed,
  self_test_failed,
  software_only,      // a Vulkan driver that computes on the CPU
  feature_missing,    // a device lacks something that the kernels need
  probe_unavailable,  // the drivers could not be asked: Sotto's helper program is missing
};

struct Finding {
  FindingCode code{};
  std::string subject;  // the device, driver or path it is about
  std::string detail;   // what was seen: numbers, the driver's own words
};

// What the self-test's window took: on a device, and on the CPU of the same machine.
struct DeviceTiming {
  double seconds = 0, cpu_seconds = 0;
  bool slower_than_cpu() const noexcept { return seconds > cpu_seconds; }
};

// What is known of one device, usable or not.
struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int index = 0;              // among its kind: "cuda:1"
  std::string uuid;           // the driver's, as hex groups; empty where there is none
  std::string name;           // "AMD Radeon RX 5700 XT"
  std::string architecture;   // the vendor's: "gfx1010", "sm_89", "x86-64 AVX-512 VNNI"
  std::string generation;     // for people: "RDNA 1", "Ada"
  uint64_t memory_total = 0;  // bytes
  uint64_t memory_free = 0;
  std::string driver;             // library and version, for people
  std::filesystem::path library;  // the driver's file; empty where there is none
  uint32_t driver_version = 0;    // as the driver numbers it: CUDA 12040, HIP 60032831
  bool integrated = false;
  bool software = false;                   // computes on the CPU although it is reached as a GPU (lavapipe)
  std::vector<ComputeType> compute_types;  // that it can do, best first
  std::optional<DeviceTiming> timing;      // once it has been timed on this machine
  std::optional<Finding> obstacle;         // why it cannot be used; nothing: it can

  std::string id() const;  // "cuda:1"
};

struct Catalogue {
  std::vector<Device> devices;    // best first; the CPU is always the last and always usable
  std::vector<Finding> findings;  // about what did not even become a device
};

}  // namespace sotto
