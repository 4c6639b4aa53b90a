// The drivers of this machine, whichever there are: whatever they say, probing answers.
#include <gtest/gtest.h>

#include "device/driver_files.h"
#include "device/probe.h"
#include "fault/scenario.h"

namespace sotto {
namespace {

// The real machine with an empty cache.
class RealMachine {
 protected:
  RealMachine() { system_.set("SOTTO_SYSTEM_ROOT", std::nullopt); }
  test::FakeSystem system_;
};

class RealDriverTest : public RealMachine, public testing::TestWithParam<DeviceKind> {};
class LavapipeTest : public RealMachine, public testing::Test {};

TEST_P(RealDriverTest, Answers) {
  if (driver_files(GetParam()).empty()) GTEST_SKIP() << "no driver library of this kind is installed";
  const ProbeResult result = probe(GetParam());
  EXPECT_EQ(result.problem, "");
  for (const ProbeAttempt& attempt : result.attempts) {
    EXPECT_TRUE(attempt.finding || attempt.report.api_version > 0) << attempt.library;
    if (attempt.finding) {
      EXPECT_NE(attempt.finding->code, FindingCode::probe_crashed) << attempt.finding->detail;
    }
    for (const ProbedDevice& device : attempt.report.devices) {
      EXPECT_NE(device.name, "");
      EXPECT_GT(device.memory_total, 0u);
    }
  }
  EXPECT_TRUE(probe(GetParam()).attempts.at(0).from_cache);
}

INSTANTIATE_TEST_SUITE_P(All, RealDriverTest,
                         testing::Values(DeviceKind::cuda, DeviceKind::rocm, DeviceKind::vulkan));

TEST_F(LavapipeTest, IsUsableSoftware) {
  const ProbeResult result = probe(DeviceKind::vulkan);
  if (result.serving() == nullptr) GTEST_SKIP() << "no Vulkan driver is installed";
  for (const ProbedDevice& device : result.serving()->report.devices) {
    if (!device.software) continue;
    EXPECT_NE(device.name.find("llvmpipe"), std::string::npos) << device.name;
    EXPECT_NE(device.driver.find("llvmpipe"), std::string::npos) << device.driver;
    EXPECT_FALSE(device.problem) << device.problem->text;
    EXPECT_TRUE(device.float16_storage);
    EXPECT_GT(device.subgroup_size, 0);
    return;
  }
  GTEST_SKIP() << "lavapipe is not among the Vulkan drivers";
}

}  // namespace
}  // namespace sotto
