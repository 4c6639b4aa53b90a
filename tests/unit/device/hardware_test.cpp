#include "device/hardware.h"

#include <gtest/gtest.h>

#include "fault/scenario.h"

namespace sotto {
namespace {

using test::FakeSystem;

TEST(Hardware, AnEmptyMachineHasNone) {
  const FakeSystem system;
  const Hardware hardware = find_hardware();
  EXPECT_TRUE(hardware.displays.empty());
  EXPECT_TRUE(hardware.kfd_nodes.empty());
  EXPECT_TRUE(hardware.device_files.empty());
  EXPECT_EQ(hardware.container, "");
  EXPECT_EQ(hardware.nvidia_module, "");
  EXPECT_EQ(hardware.amdgpu_module, "");
}

TEST(Hardware, ListsDisplayControllersWithNames) {
  FakeSystem system;
  system.add_pci("0000:0a:00.0", 0x10de, 0x2684);
  system.add_pci("0000:03:00.0", 0x1002, 0x731f, "amdgpu");
  system.add_pci("0000:00:02.0", 0x1af4, 0x1050, "virtio-pci");
  system.add_file("/sys/bus/pci/devices/0000:00:1f.3/class", "0x040300\n");  // a sound card
  system.add_file("/sys/bus/pci/devices/0000:03:00.0/mem_info_vram_total", "8573157376\n");
  system.add_file("/sys/bus/pci/devices/0000:03:00.0/mem_info_vram_used", "1048576\n");
  const Hardware hardware = find_hardware();
  ASSERT_EQ(hardware.displays.size(), 3u);
  EXPECT_FALSE(hardware.displays[0].can_compute());
  const PciDisplay& radeon = hardware.displays[1];
  EXPECT_EQ(radeon.address, "0000:03:00.0");
  EXPECT_EQ(radeon.architecture, "gfx1010");
  EXPECT_EQ(radeon.generation, "RDNA 1");
  EXPECT_EQ(radeon.kernel_driver, "amdgpu");
  EXPECT_EQ(radeon.memory_total, 8573157376u);
  EXPECT_EQ(radeon.memory_used, 1048576u);
  EXPECT_TRUE(radeon.can_compute());
  EXPECT_EQ(hardware.amdgpu_module, "in-tree");
  EXPECT_EQ(hardware.displays[2].generation, "Ada");
  EXPECT_EQ(hardware.displays[2].kernel_driver, "");
  EXPECT_EQ(hardware.display_at("0000:03:00.0"), &radeon);
  EXPECT_EQ(hardware.display_at("0000:04:00.0"), nullptr);
}

TEST(Hardware, ReadsTheKernelsComputeTopology) {
  FakeSystem system;
  system.add_kfd(10, 110000, 0x744c);
  system.add_kfd(2, 100100, 0x731f);
  const Hardware hardware = find_hardware();
  ASSERT_EQ(hardware.kfd_nodes.size(), 2u) << "the CPU's node is none";
  EXPECT_EQ(hardware.kfd_nodes[0].architecture, "gfx1010");
  EXPECT_EQ(hardware.kfd_nodes[0].device, 0x731f);
  EXPECT_EQ(hardware.kfd_nodes[0].pci_address, "0000:04:00.0");
  EXPECT_EQ(hardware.kfd_nodes[1].node, 10);
}

TEST(Hardware, TellsWhichDeviceFilesMayBeOpened) {
  FakeSystem system;
  system.add_device_file("/dev/kfd", false);
  system.add_device_file("/dev/dri/renderD128");
  system.add_device_file("/dev/dri/card0");
  system.add_device_file("/dev/nvidia0");
  system.add_device_file("/dev/nvidiactl");
  const Hardware hardware = find_hardware();
  ASSERT_EQ(hardware.device_files.size(), 3u);
  ASSERT_NE(hardware.device_file("/dev/kfd"), nullptr);
  EXPECT_FALSE(hardware.device_file("/dev/kfd")->accessible);
  EXPECT_TRUE(hardware.device_file("/dev/dri/renderD128")->accessible);
  EXPECT_NE(hardware.device_file("/dev/dri/renderD128")->group, "");
  EXPECT_TRUE(hardware.device_file("/dev/nvidia0")->accessible);
}

TEST(Hardware, SeesContainers) {
  const auto container_with = [](const char* file, const char* text) {
    FakeSystem system;
    system.add_file(file, text);
    return find_hardware().container;
  };
  EXPECT_EQ(container_with("/.dockerenv", ""), "docker");
  EXPECT_EQ(container_with("/run/.containerenv", ""), "podman");
  EXPECT_EQ(container_with("/proc/1/cgroup", "0::/kubepods/besteffort/pod1\n"), "kubernetes");
  EXPECT_EQ(container_with("/run/systemd/container", "systemd-nspawn\n"), "systemd-nspawn");
  EXPECT_EQ(container_with("/proc/1/cgroup", "0::/init.scope\n"), "");
}

TEST(Hardware, SurvivesNonsenseInSysfs) {
  FakeSystem system;
  system.add_file("/sys/bus/pci/devices/0000:03:00.0/class", "0x030000");
  system.add_file("/sys/bus/pci/devices/0000:03:00.0/vendor", std::string(100000, 'x'));
  system.add_file("/sys/class/kfd/kfd/topology/nodes/1/properties",
                  "gfx_target_version banana\nlocation_id -1\n");
  const Hardware hardware = find_hardware();
  ASSERT_EQ(hardware.displays.size(), 1u);
  EXPECT_FALSE(hardware.displays[0].can_compute());
  EXPECT_TRUE(hardware.kfd_nodes.empty());
}

}  // namespace
}  // namespace sotto
