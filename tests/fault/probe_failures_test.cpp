// What probing says about drivers that misbehave.
#include <gtest/gtest.h>

#include "device/probe.h"
#include "fault/scenario.h"
#include "platform/process.h"

namespace sotto {
namespace {

using test::FakeDevice;
using test::FakeDriver;
using test::FakeSystem;
using namespace std::chrono_literals;

const FakeDevice kCard{.name = "a card", .architecture = "sm_86"};
const FakeDevice kNavi{.name = "AMD Radeon RX 5700 XT", .architecture = "gfx1010"};

// The one attempt of a machine with one CUDA driver.
ProbeAttempt attempt_with(const FakeDriver& driver, const ProbeOptions& options = {}) {
  FakeSystem system;
  system.install_cuda(driver);
  return probe(DeviceKind::cuda, options).attempts.at(0);
}

TEST(ProbeFailures, AHangIsAFindingAndIsRemembered) {
  FakeSystem system;
  system.install_vulkan({.behaviour = "hang"});
  const ProbeOptions options{.timeout = 300ms};
  const ProbeResult result = probe(DeviceKind::vulkan, options);
  ASSERT_EQ(result.attempts.size(), 1u);
  ASSERT_TRUE(result.attempts[0].finding);
  EXPECT_EQ(result.attempts[0].finding->code, FindingCode::probe_hung);
  EXPECT_EQ(result.attempts[0].finding->detail, "no answer within 0.3 s");
  EXPECT_EQ(result.serving(), nullptr);
  const ProbeResult again = probe(DeviceKind::vulkan, options);
  EXPECT_TRUE(again.attempts.at(0).from_cache);
  EXPECT_EQ(again.attempts[0].finding->code, FindingCode::probe_hung);
}

TEST(ProbeFailures, ACrashIsAFinding) {
  const auto segfault = attempt_with({.behaviour = "segfault"});
  ASSERT_TRUE(segfault.finding);
  EXPECT_EQ(segfault.finding->code, FindingCode::probe_crashed);
  EXPECT_EQ(segfault.finding->detail, "SIGSEGV");
  const auto abort = attempt_with({.behaviour = "abort"});
  ASSERT_TRUE(abort.finding);
  EXPECT_EQ(abort.finding->code, FindingCode::probe_crashed);
  EXPECT_EQ(abort.finding->detail, "SIGABRT");
}

TEST(ProbeFailures, ADriverThatEndsTheProcessIsAFinding) {
  const auto exit = attempt_with({.behaviour = "exit"});
  ASSERT_TRUE(exit.finding);
  EXPECT_EQ(exit.finding->code, FindingCode::probe_crashed);
  EXPECT_EQ(exit.finding->detail, "it ended the process with code 3");
  const auto quiet = attempt_with({.behaviour = "quiet_exit"});
  ASSERT_TRUE(quiet.finding);
  EXPECT_EQ(quiet.finding->code, FindingCode::probe_crashed);
  EXPECT_EQ(quiet.finding->detail, "it ended the process without an answer");
}

TEST(ProbeFailures, ACrashingRuntimeDoesNotHideTheNextOne) {
  FakeSystem system;
  system.install_hip(7, {.behaviour = "segfault"});
  system.install_hip(6, {.devices = {kNavi}});
  const ProbeResult result = probe(DeviceKind::rocm);
  EXPECT_EQ(result.chosen, 1u);
  EXPECT_EQ(result.attempts[0].finding->code, FindingCode::probe_crashed);
}

TEST(ProbeFailures, AnOldDriverIsTooOld) {
  const auto old = attempt_with({.version = 11040, .devices = {kCard}});
  ASSERT_TRUE(old.finding);
  EXPECT_EQ(old.finding->code, FindingCode::driver_too_old);
  EXPECT_EQ(old.finding->detail, "version 11.4");
  EXPECT_EQ(old.report.devices.size(), 1u) << "what it would have served";
  const auto ancient = attempt_with({.missing_functions = true});
  ASSERT_TRUE(ancient.finding);
  EXPECT_EQ(ancient.finding->code, FindingCode::driver_too_old);
  EXPECT_NE(ancient.finding->detail.find("has no function cuInit"), std::string::npos)
      << ancient.finding->detail;
}

TEST(ProbeFailures, AnOldVulkanLoaderIsTooOld) {
  FakeSystem system;
  system.install_vulkan({.version = 1 << 22});
  const ProbeResult result = probe(DeviceKind::vulkan);
  ASSERT_TRUE(result.attempts.at(0).finding);
  EXPECT_EQ(result.attempts[0].finding->code, FindingCode::driver_too_old);
}

TEST(ProbeFailures, AMismatchOfLibraryAndModuleIsTooOld) {
  const auto mismatch = attempt_with({.init_error = 803});
  ASSERT_TRUE(mismatch.finding);
  EXPECT_EQ(mismatch.finding->code, FindingCode::driver_too_old);
  EXPECT_NE(mismatch.finding->detail.find("CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"), std::string::npos);
}

TEST(ProbeFailures, TheDriversOwnWordsAreKept) {
  const auto none = attempt_with({});
  EXPECT_FALSE(none.finding);
  ASSERT_TRUE(none.report.error);
  EXPECT_EQ(none.report.error->step, "cuInit");
  EXPECT_EQ(none.report.error->code, 100);
  EXPECT_EQ(none.report.error->text, "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected");
}

TEST(ProbeFailures, AMissingCodeObjectManagerIsNamed) {
  FakeSystem system;
  system.install_hip_without_comgr(6);
  const ProbeResult result = probe(DeviceKind::rocm);
  ASSERT_TRUE(result.attempts.at(0).finding);
  EXPECT_EQ(result.attempts[0].finding->code, FindingCode::comgr_missing);
  EXPECT_NE(result.attempts[0].finding->detail.find("libamd_comgr.so.99"), std::string::npos);
}

TEST(ProbeFailures, AFileThatIsNoLibraryIsNoDriver) {
  FakeSystem system;
  system.add_file("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "not a library");
  const ProbeResult result = probe(DeviceKind::cuda);
  ASSERT_TRUE(result.attempts.at(0).finding);
  EXPECT_EQ(result.attempts[0].finding->code, FindingCode::no_driver);
}

TEST(ProbeFailures, ADeviceThatRefusesMemoryHasAProblem) {
  FakeDevice refusing = kCard;
  refusing.allocation_fails = true;
  const auto cuda = attempt_with({.devices = {refusing, kCard}});
  ASSERT_EQ(cuda.report.devices.size(), 2u);
  ASSERT_TRUE(cuda.report.devices[0].problem);
  EXPECT_EQ(cuda.report.devices[0].problem->step, "cuMemAlloc");
  EXPECT_EQ(cuda.report.devices[0].problem->code, 2);
  EXPECT_FALSE(cuda.report.devices[1].problem);

  FakeSystem system;
  system.install_vulkan({.devices = {refusing}});
  const ProbeResult vulkan = probe(DeviceKind::vulkan);
  ASSERT_NE(vulkan.serving(), nullptr) << "it counts a device";
  ASSERT_TRUE(vulkan.serving()->report.devices[0].problem);
  EXPECT_EQ(vulkan.serving()->report.devices[0].problem->text, "VK_ERROR_OUT_OF_DEVICE_MEMORY");
}

TEST(ProbeFailures, AMissingHelperIsSaid) {
  FakeSystem system;
  system.install_cuda({.devices = {kCard}});
  system.set("SOTTO_PROBE", "/nowhere/sotto-probe");
  const ProbeResult result = probe(DeviceKind::cuda);
  EXPECT_EQ(result.serving(), nullptr);
  EXPECT_NE(result.problem.find("/nowhere/sotto-probe: cannot be started"), std::string::npos)
      << result.problem;
}

TEST(RunChild, CollectsOutputInputAndExitCode) {
  const ChildOutcome outcome = run_child("/bin/sh", {"-c", "cat; echo oops >&2; exit 7"}, {}, "hello");
  EXPECT_EQ(outcome.out, "hello");
  EXPECT_EQ(outcome.err, "oops\n");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_FALSE(outcome.timed_out);
}

TEST(RunChild, DropsWhatIsTooMuch) {
  const ChildOutcome outcome =
      run_child("/bin/sh", {"-c", "head -c 3000000 /dev/zero"}, {.output_bytes = 1000});
  EXPECT_EQ(outcome.out.size(), 1000u);
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST(RunChild, EndsWhatClosesItsStreamsAndStays) {
  const ChildOutcome outcome = run_child("/bin/sh", {"-c", "exec >&- 2>&-; sleep 100"}, {.time = 200ms});
  EXPECT_TRUE(outcome.timed_out);
}

TEST(RunChild, DoesNotWaitForGrandchildren) {
  const ChildOutcome outcome = run_child("/bin/sh", {"-c", "sleep 3 & echo done"}, {.time = 60s});
  EXPECT_EQ(outcome.out, "done\n");
  EXPECT_EQ(outcome.exit_code, 0);
}

}  // namespace
}  // namespace sotto
