// A device that computes wrongly is found out.
#include "device/self_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/choice.h"
#include "support/temporary_folder.h"
#include "unit/device/fake_devices.h"

namespace sotto::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const SelfTest& the_test() {
  static const SelfTest test;
  return test;
}

TEST(SelfTest, the_cpu_passes_in_every_type_with_room_to_spare) {
  for (const ComputeType type :
       {ComputeType::float32, ComputeType::float16, ComputeType::bfloat16, ComputeType::int8}) {
    const auto backend = make_cpu_backend({.compute_type = type});
    const SelfTestResult result = the_test().run(*backend);
    EXPECT_TRUE(result.passed) << compute_type_name(type) << " error " << result.error << ", heard "
                               << result.text;
    EXPECT_LT(result.error, result.bound / 1.5) << compute_type_name(type);
    EXPECT_EQ(result.text, " He still kept his eyes fixed on him as he spoke.");
    RecordProperty(std::string(compute_type_name(type)), std::to_string(result.error));
  }
}

TEST(SelfTest, a_wrong_factor_in_the_linear_layers_fails) {
  const auto wrong = open_wrong(geforce(), ComputeType::float32, 0);
  const SelfTestResult result = the_test().run(*wrong);
  EXPECT_FALSE(result.passed);
  EXPECT_GT(result.error, 10 * result.bound);
}

TEST(SelfTest, a_result_is_remembered_for_the_same_device_and_driver) {
  TemporaryFolder folder;
  const SelfTestCache cache(folder / "below/self-tests.json");
  EXPECT_FALSE(cache.find(geforce(), ComputeType::float16));
  cache.store(geforce(), ComputeType::float16, {true, 0.001, 0.02, " a", " a"});
  ASSERT_TRUE(cache.find(geforce(), ComputeType::float16));
  EXPECT_TRUE(cache.find(geforce(), ComputeType::float16)->passed);
  EXPECT_FALSE(cache.find(geforce(), ComputeType::float16)->timing);
  cache.store(geforce(), ComputeType::float16, {true, 0.001, 0.02, " a", " a", DeviceTiming{0.25, 0.5}});
  ASSERT_TRUE(cache.find(geforce(), ComputeType::float16)->timing);
  EXPECT_EQ(cache.find(geforce(), ComputeType::float16)->timing->seconds, 0.25);
  EXPECT_EQ(cache.find(geforce(), ComputeType::float16)->timing->cpu_seconds, 0.5);
  EXPECT_FALSE(cache.find(geforce(), ComputeType::float32));
  EXPECT_FALSE(cache.find(geforce(1), ComputeType::float16));  // another UUID
  Device updated = geforce();
  updated.driver = "a driver 2.0";
  EXPECT_FALSE(cache.find(updated, ComputeType::float16));
}

TEST(SelfTest, a_damaged_memory_is_as_good_as_none) {
  TemporaryFolder folder;
  const SelfTestCache cache(folder / "self-tests.json");
  for (const char* text : {"", "{", "[]", "{\"x\": 1}"}) {
    write_file(folder / "self-tests.json", std::string_view(text));
    EXPECT_FALSE(cache.find(geforce(), ComputeType::float16)) << text;
  }
  cache.store(geforce(), ComputeType::float16,
              {false, std::numeric_limits<double>::infinity(), 0.02, "", " a"});
  ASSERT_TRUE(cache.find(geforce(), ComputeType::float16));
  EXPECT_FALSE(cache.find(geforce(), ComputeType::float16)->passed);
}

TEST(SelfTest, a_device_that_fails_is_refused_with_figures_and_the_cpu_works_instead) {
  TemporaryFolder folder;
  const SelfTestCache cache(folder / "self-tests.json");
  const auto build = build_with(DeviceKind::cuda, open_wrong);
  for (const char* time : {"tested", "remembered"}) {
    const OpenedDevice opened = open_device(
        {.device = "cuda"}, with_cpu({geforce()}), build,
        [&](const Device& device, Backend& backend) { return check_trust(device, backend, cache); });
    EXPECT_EQ(opened.device.kind, DeviceKind::cpu) << time;
    EXPECT_THAT(opened.notes.at(0).text,
                AllOf(HasSubstr("RTX 4090 computes wrong results"),
                      HasSubstr("off the CPU's (allowed: 0.01)"), HasSubstr("docs/gpu.md#self-test-failed")))
        << time;
  }
  Catalogue list = with_cpu({geforce()});
  recall_self_tests(list, cache);
  ASSERT_TRUE(list.devices[0].obstacle);
  EXPECT_EQ(list.devices[0].obstacle->code, FindingCode::self_test_failed);
}

}  // namespace
}  // namespace sotto::test
