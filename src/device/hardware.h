#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// The folder below which /sys, /dev, /proc and the libraries' folders are read: "/" unless SOTTO_SYSTEM_ROOT
// (for tests) says otherwise.
std::filesystem::path system_root();

// A display controller on the PCI bus, as the kernel lists it: seen without any driver library.
struct PciDisplay {
  std::string address;  // "0000:03:00.0"
  uint16_t vendor = 0;
  uint16_t device = 0;
  std::string name;           // from pci_names.h
  std::string architecture;   // "gfx1010"; empty where the ids do not tell
  std::string generation;     // "RDNA 1"; empty where the ids do not tell
  std::string kernel_driver;  // "amdgpu", "nvidia", "nouveau", "vfio-pci"; empty: none is bound
  uint64_t memory_total = 0;  // bytes, where the kernel tells (amdgpu)
  uint64_t memory_used = 0;

  bool can_compute() const noexcept;  // by AMD, NVIDIA or Intel; not a server's console or a virtual screen
};

// A GPU of the kernel's compute interface for AMD (/sys/class/kfd/kfd/topology).
struct KfdNode {
  int node = 0;
  std::string architecture;  // "gfx1010"
  uint16_t device = 0;       // PCI device id
  std::string pci_address;   // "0000:03:00.0"
};

// A file through which a device is reached.
struct DeviceFile {
  std::string path;  // "/dev/kfd"
  bool accessible = false;
  std::string group;  // that owns it: "render"; as a number where it has no name here
};

struct Hardware {
  std::vector<PciDisplay> displays;
  std::vector<KfdNode> kfd_nodes;
  std::vector<DeviceFile>
      device_files;           // /dev/kfd, /dev/dri/renderD*, /dev/nvidia[0-9]*, /dev/dxg: those that exist
  std::string container;      // "docker", "podman", "kubernetes", "lxc", "container"; empty: none
  std::string nvidia_module;  // version of the loaded kernel module; empty: not loaded
  std::string amdgpu_module;  // version where it is AMD's own package; "in-tree"; empty: not loaded

  const DeviceFile* device_file(std::string_view path) const noexcept;
  const PciDisplay* display_at(std::string_view pci_address) const noexcept;
};

// Reads it all anew; takes a few milliseconds and never throws for what is not there.
Hardware find_hardware();

}  // namespace sotto
