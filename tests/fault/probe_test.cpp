// What probing finds on machines whose drivers behave.
#include "device/probe.h"

#include <gtest/gtest.h>

#include "device/driver_files.h"
#include "fault/scenario.h"

namespace sotto {
namespace {

using test::FakeDevice;
using test::FakeDriver;
using test::FakeSystem;

const FakeDevice kSmall{.name = "NVIDIA GeForce RTX 3060",
                        .architecture = "sm_86",
                        .memory_mib = 12288,
                        .free_mib = 11000,
                        .uuid = "0a1b2c3d-0000-1111-2222-333344445555"};
const FakeDevice kLarge{.name = "NVIDIA GeForce RTX 4090",
                        .architecture = "sm_89",
                        .memory_mib = 24576,
                        .free_mib = 23000,
                        .uuid = "99999999-8888-7777-6666-555544443333"};
const FakeDevice kNavi{.name = "AMD Radeon RX 5700 XT", .architecture = "gfx1010"};

TEST(Probe, NoLibraryMeansNoAttempt) {
  const FakeSystem system;
  for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::rocm, DeviceKind::vulkan}) {
    const ProbeResult result = probe(kind);
    EXPECT_TRUE(result.attempts.empty());
    EXPECT_EQ(result.serving(), nullptr);
    EXPECT_EQ(result.problem, "");
  }
}

TEST(Probe, DescribesCudaDevices) {
  FakeSystem system;
  system.install_cuda({.devices = {kSmall, kLarge}});
  const ProbeResult result = probe(DeviceKind::cuda);
  ASSERT_NE(result.serving(), nullptr);
  const ProbeReport& report = result.serving()->report;
  EXPECT_EQ(report.version, "12.4");
  EXPECT_EQ(report.api_version, 12040u);
  ASSERT_EQ(report.devices.size(), 2u);
  const ProbedDevice& device = report.devices[1];
  EXPECT_EQ(device.index, 1);
  EXPECT_EQ(device.name, kLarge.name);
  EXPECT_EQ(device.uuid, kLarge.uuid);
  EXPECT_EQ(device.architecture, "sm_89");
  EXPECT_EQ(device.pci_address, "0000:04:00.0");
  EXPECT_EQ(device.memory_total, kLarge.memory_mib << 20);
  EXPECT_EQ(device.memory_free, kLarge.free_mib << 20);
  EXPECT_FALSE(device.problem);
  EXPECT_TRUE(device.float16_arithmetic);
  EXPECT_EQ(report.devices[0].uuid, kSmall.uuid);
  EXPECT_EQ(report.devices[0].pci_address, "0000:03:00.0");
}

TEST(Probe, NamesTheArchitecturesOfHipDevices) {
  for (const char* architecture : {"gfx1010", "gfx1030", "gfx1100", "gfx1201"}) {
    FakeSystem system;
    system.install_hip(6, {.devices = {{.name = "AMD Radeon", .architecture = architecture}}});
    const ProbeResult result = probe(DeviceKind::rocm);
    ASSERT_NE(result.serving(), nullptr) << architecture;
    ASSERT_EQ(result.serving()->report.devices.size(), 1u);
    EXPECT_EQ(result.serving()->report.devices[0].architecture, architecture);
    EXPECT_EQ(result.serving()->report.version, "6.0.32831");
  }
}

TEST(Probe, TakesTheRuntimeThatSeesTheDevice) {
  FakeSystem system;
  system.install_hip(7, {.version = 70000000});
  system.install_hip(6, {.devices = {kNavi}});
  const ProbeResult result = probe(DeviceKind::rocm);
  ASSERT_EQ(result.attempts.size(), 2u);
  EXPECT_EQ(result.attempts[0].library.filename(), "libamdhip64.so.7");
  EXPECT_FALSE(result.attempts[0].finding);
  ASSERT_TRUE(result.attempts[0].report.error);
  EXPECT_EQ(result.attempts[0].report.error->code, 100);
  EXPECT_EQ(result.chosen, 1u);
  EXPECT_EQ(result.serving()->library.filename(), "libamdhip64.so.6");
}

TEST(Probe, PrefersTheRuntimeThatCanAllocate) {
  FakeSystem system;
  FakeDevice refusing = kNavi;
  refusing.allocation_fails = true;
  system.install_hip(7, {.devices = {refusing}});
  system.install_hip(6, {.devices = {kNavi}}, "/opt/rocm-6.0.0/lib");
  EXPECT_EQ(probe(DeviceKind::rocm).chosen, 1u);
}

TEST(Probe, LooksBelowOptAndTrustsHipPathLast) {
  FakeSystem system;
  system.install_hip(7, {.version = 70000000}, "/wrong/lib");
  system.install_hip(6, {.devices = {kNavi}}, "/opt/rocm-6.10.0/lib");
  system.install_hip(6, {.version = 60000000}, "/opt/rocm-6.2.0/lib");
  system.install_hip(5, {}, "/chosen/lib");
  system.set("HIP_PATH", (system.root() / "wrong").string());
  system.set("ROCM_PATH", (system.root() / "chosen").string());
  const auto files = driver_files(DeviceKind::rocm);
  ASSERT_EQ(files.size(), 4u);
  EXPECT_EQ(files[0], system.root() / "opt/rocm-6.10.0/lib/libamdhip64.so.6");
  EXPECT_EQ(files[1], system.root() / "opt/rocm-6.2.0/lib/libamdhip64.so.6");
  EXPECT_EQ(files[2], system.root() / "chosen/lib/libamdhip64.so.5");
  EXPECT_EQ(files[3], system.root() / "wrong/lib/libamdhip64.so.7");
  EXPECT_EQ(probe(DeviceKind::rocm).chosen, 0u);
}

TEST(Probe, TakesAFileOnceWhateverLinksLeadToIt) {
  FakeSystem system;
  system.install_hip(6, {.devices = {kNavi}}, "/opt/rocm-6.0.0/lib");
  std::filesystem::create_directory_symlink("rocm-6.0.0", system.root() / "opt/rocm");
  EXPECT_EQ(driver_files(DeviceKind::rocm).size(), 1u);
}

TEST(Probe, FindsFoldersOfTheLoadersConfigurationAndOfTheVariable) {
  FakeSystem system;
  system.add_file("/etc/ld.so.conf.d/vendor.conf", "# a comment\n/vendor/libraries\n");
  system.install_cuda({}, "/vendor/libraries");
  system.install_cuda({}, "/first");
  system.set("SOTTO_DRIVER_PATH", (system.root() / "first").string());
  const auto files = driver_files(DeviceKind::cuda);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0], system.root() / "first/libcuda.so.1");
  EXPECT_EQ(files[1], system.root() / "vendor/libraries/libcuda.so.1");
}

TEST(Probe, DescribesVulkanDevicesOfAllTypes) {
  FakeSystem system;
  system.install_vulkan({.devices = {{.name = "Arc A770", .memory_mib = 16384, .type = "discrete"},
                                     {.name = "Iris", .type = "integrated", .float16 = false},
                                     {.name = "llvmpipe", .type = "cpu"}}});
  const ProbeResult result = probe(DeviceKind::vulkan);
  ASSERT_NE(result.serving(), nullptr);
  const auto& devices = result.serving()->report.devices;
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].name, "Arc A770");
  EXPECT_EQ(devices[0].memory_total, uint64_t{16384} << 20);
  EXPECT_EQ(devices[0].driver, "fake 1.0");
  EXPECT_EQ(devices[0].subgroup_size, 32);
  EXPECT_TRUE(devices[0].float16_storage && devices[0].float16_arithmetic && devices[0].int8_dot_product);
  EXPECT_TRUE(devices[1].integrated);
  EXPECT_FALSE(devices[1].float16_storage || devices[1].float16_arithmetic);
  EXPECT_TRUE(devices[2].software);
  EXPECT_FALSE(devices[0].software || devices[0].integrated);
}

TEST(Probe, AVulkanDeviceWithTooFewBuffersIsListedWithThatReason) {
  FakeSystem system;
  system.install_vulkan({.devices = {{.name = "Small", .buffers = 4}}});
  const ProbeResult result = probe(DeviceKind::vulkan);
  ASSERT_NE(result.serving(), nullptr);
  const auto& problem = result.serving()->report.devices.at(0).problem;
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->text, "a kernel may have 4 buffers, and 6 are needed");
}

TEST(Probe, KeepsWhatADriverPrintsOutOfTheAnswer) {
  FakeSystem system;
  system.install_cuda({.behaviour = "chatter", .devices = {kSmall}});
  const ProbeResult result = probe(DeviceKind::cuda);
  ASSERT_NE(result.serving(), nullptr);
  EXPECT_EQ(result.serving()->report.devices[0].name, kSmall.name);
}

TEST(ProbeCache, AWarmCallLoadsNoDriver) {
  FakeSystem system;
  system.install_cuda({.devices = {kSmall}});
  EXPECT_FALSE(probe(DeviceKind::cuda).attempts.at(0).from_cache);
  EXPECT_EQ(system.driver_loads(), 1);
  const ProbeResult warm = probe(DeviceKind::cuda);
  EXPECT_TRUE(warm.attempts.at(0).from_cache);
  EXPECT_EQ(warm.serving()->report.devices.at(0).name, kSmall.name);
  EXPECT_EQ(system.driver_loads(), 1);
}

TEST(ProbeCache, AsksAgainWhenToldToOrWhenSomethingChanged) {
  FakeSystem system;
  system.install_cuda({.devices = {kSmall}});
  probe(DeviceKind::cuda);
  probe(DeviceKind::cuda, {.refresh = true});
  EXPECT_EQ(system.driver_loads(), 2) << "refresh";
  system.add_pci("0000:0b:00.0", 0x10de, 0x2684, "nvidia");
  probe(DeviceKind::cuda);
  EXPECT_EQ(system.driver_loads(), 3) << "new hardware";
  system.set("CUDA_VISIBLE_DEVICES", "0");
  probe(DeviceKind::cuda);
  EXPECT_EQ(system.driver_loads(), 4) << "a variable that the driver obeys";
  std::filesystem::last_write_time(driver_files(DeviceKind::cuda).at(0), std::filesystem::file_time_type{});
  probe(DeviceKind::cuda);
  EXPECT_EQ(system.driver_loads(), 5) << "an updated library";
  system.add_file("/proc/sys/kernel/random/boot_id", "b7b2e4bb\n");
  probe(DeviceKind::cuda);
  EXPECT_EQ(system.driver_loads(), 6) << "a restart";
}

TEST(ProbeCache, IgnoresDamagedFiles) {
  FakeSystem system;
  system.install_cuda({.devices = {kSmall}});
  probe(DeviceKind::cuda);
  for (const std::string& damage : {std::string(), std::string("{"), std::string("[1]"),
                                    std::string("{\"key\": 7}"), std::string(1000, '\xff')}) {
    for (const auto& entry : std::filesystem::directory_iterator(system.cache() / "sotto/probes"))
      test::write_file(entry.path(), damage);
    const ProbeResult result = probe(DeviceKind::cuda);
    ASSERT_NE(result.serving(), nullptr) << damage;
    EXPECT_FALSE(result.serving()->from_cache);
  }
}

TEST(ProbeCache, WorksWithoutAFolderToWriteTo) {
  FakeSystem system;
  system.install_cuda({.devices = {kSmall}});
  test::write_file(system.cache() / "sotto", "a file where the folder should be");
  EXPECT_NE(probe(DeviceKind::cuda).serving(), nullptr);
}

}  // namespace
}  // namespace sotto
