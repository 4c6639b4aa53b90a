#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/temporary_folder.h"

namespace sotto::test {

// A device that a fake driver reports. What a driver does not use is ignored.
struct FakeDevice {
  std::string name;
  std::string architecture;  // cuda: "sm_89"; hip: "gfx1010"
  uint64_t memory_mib = 8192;
  uint64_t free_mib = 7000;
  std::string uuid = "00000000-0000-0000-0000-000000000001";
  bool allocation_fails = false;
  std::string type = "discrete";  // vulkan: "discrete", "integrated", "virtual", "cpu"
  bool float16 = true;            // vulkan: 16-bit storage and arithmetic
  uint32_t buffers = 32;          // vulkan: that a kernel may have
};

// How a fake driver behaves: the file it reads.
struct FakeDriver {
  int version = 0;     // 0: a recent one. cuda 12040, hip 60032831, vulkan (1 << 22 | 3 << 12)
  int init_error = 0;  // what cuInit, hipInit or vkCreateInstance answers
  std::string
      behaviour;  // "", "hang", "segfault", "abort", "exit", "quiet_exit", "chatter": at initialisation
  bool missing_functions = false;  // as if the library were much older than what we ask for
  std::vector<FakeDevice> devices;
};

// An environment variable for the time of a scope; nothing: removed.
class ScopedVariable {
 public:
  ScopedVariable(std::string name, std::optional<std::string> value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> previous_;
};

// A machine in a folder: its own /sys, /dev and libraries, and its own cache and configuration of the user.
// While one exists, the environment of this process and of its children points there; nothing of the real
// machine is seen.
class FakeSystem {
 public:
  FakeSystem();
  ~FakeSystem();
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  const std::filesystem::path& root() const noexcept { return root_; }
  std::filesystem::path cache() const { return folder_ / "cache"; }
  std::filesystem::path home() const { return folder_ / "home"; }

  // A display controller in sysfs: add_pci("0000:03:00.0", 0x1002, 0x731f, "amdgpu").
  void add_pci(std::string_view address, unsigned vendor, unsigned device,
               std::string_view kernel_driver = {});
  // A node of the kfd topology: add_kfd(1, 100100, 0x731f). Makes /dev/kfd too.
  void add_kfd(int node, unsigned gfx_target_version, unsigned device);
  void add_device_file(std::string_view path, bool accessible = true);  // "/dev/kfd", "/dev/dri/renderD128"
  void add_file(std::string_view path, std::string_view text = {});     // "/.dockerenv"

  // Drivers, in the standard folder unless another is named (below the root: "/opt/rocm-6.0.0/lib").
  void install_cuda(const FakeDriver& driver, std::string_view folder = kStandardFolder);
  void install_hip(int major, const FakeDriver& driver, std::string_view folder = kStandardFolder);
  void install_vulkan(const FakeDriver& driver, std::string_view folder = kStandardFolder);
  // A HIP library that needs amd_comgr, which is not there.
  void install_hip_without_comgr(int major, std::string_view folder = kStandardFolder);

  // Variables for the life of this object: set("HIP_PATH", (system.root() / "opt/rocm-7.0.0").string()).
  void set(std::string name, std::optional<std::string> value);

  // How often a fake driver was loaded so far: a warm call loads none.
  int driver_loads() const;

  static constexpr std::string_view kStandardFolder = "/usr/lib/x86_64-linux-gnu";

 private:
  void install(std::string_view library, std::string_view file_name, const FakeDriver& driver,
               std::string_view folder);

  TemporaryFolder folder_;
  std::filesystem::path root_;
  std::vector<std::unique_ptr<ScopedVariable>> variables_;
};

// Where the build put the fake libraries and the helper program.
std::filesystem::path fake_library(std::string_view name);

}  // namespace sotto::test
