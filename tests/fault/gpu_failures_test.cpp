// A GPU that fails at any point of its work, emulated: there is the CPU's text or an explained error, and
// nothing is left behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/gpu/gpu_backend.h"
#include "fault/emulated_gpu.h"

namespace sotto::test {
namespace {

using testing::HasSubstr;

class GpuFailures : public testing::Test {
 protected:
  static void SetUpTestSuite() { machine_ = std::make_unique<EmulatedMachine>(); }
  static void TearDownTestSuite() { machine_.reset(); }
  void TearDown() override { machine().plan({}); }

  static EmulatedMachine& machine() { return *machine_; }

  static void expect_expected_text(const std::vector<WindowResult>& results) {
    ASSERT_EQ(results.size(), machine().expected().size());
    for (size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(same_result(results[i], machine().expected()[i])) << "window " << i;
  }

  static void expect_nothing_left() {
    const EmulatedCounts counts = machine().counts();
    EXPECT_EQ(counts.live_objects, 0);
    EXPECT_EQ(counts.live_bytes, 0u);
    EXPECT_EQ(counts.left_behind, 0);
    EXPECT_EQ(counts.violations, 0) << counts.first_violation;
  }

  // How often each kind of call is made when nothing fails.
  static EmulatedCounts counts_of_a_sound_run() {
    machine().plan({});
    machine().transcribe(machine().options());
    return machine().counts();
  }

  // The n-th of something fails, for about `points` values of n: the CPU goes on, and says why.
  static void expect_the_cpu_to_go_on(long count, long points, long EmulatedPlan::*what) {
    const long step = std::max(1L, count / (SOTTO_SLOW_BUILD != 0 ? points / 4 : points));
    long told = 0;
    for (long n = 1; n <= count; n += step) {
      SCOPED_TRACE(testing::Message() << "at " << n << " of " << count);
      EmulatedPlan plan;
      plan.*what = n;
      machine().plan(plan);
      machine().warnings();
      ASSERT_NO_THROW(expect_expected_text(machine().transcribe(machine().options())));
      const std::vector<std::string> warnings = machine().warnings();
      if (machine().where() == "cpu") {
        ASSERT_EQ(warnings.size(), 1u);
        EXPECT_THAT(warnings.front(), HasSubstr("Going on with the CPU."));
        EXPECT_THAT(machine().why(), HasSubstr("instead of 'cuda"));
        ++told;
      }
      expect_nothing_left();
      if (HasFailure()) return;
    }
    EXPECT_GT(told, 0);
  }

 private:
  static inline std::unique_ptr<EmulatedMachine> machine_;
};

TEST_F(GpuFailures, WithoutAnyTheTextIsTheCpus) {
  machine().plan({});
  expect_expected_text(machine().transcribe(machine().options()));
  EXPECT_EQ(machine().where(), "cuda:0");
  EXPECT_THAT(machine().warnings(), testing::IsEmpty());
  EXPECT_GT(machine().counts().graph_launches, 0);  // decoding steps are recorded
  expect_nothing_left();
}

TEST_F(GpuFailures, AtAnyAllocation) {
  expect_the_cpu_to_go_on(counts_of_a_sound_run().allocations, 1000, &EmulatedPlan::fail_allocation);
}

TEST_F(GpuFailures, AtAnyLaunch) {
  expect_the_cpu_to_go_on(counts_of_a_sound_run().launches, 1000, &EmulatedPlan::fail_launch);
}

TEST_F(GpuFailures, AtAnyCall) {
  expect_the_cpu_to_go_on(counts_of_a_sound_run().calls, 150, &EmulatedPlan::fail_call);
}

TEST_F(GpuFailures, OfTheWholeDeviceAtAnyCall) {
  expect_the_cpu_to_go_on(counts_of_a_sound_run().calls, 150, &EmulatedPlan::lost_at);
}

TEST_F(GpuFailures, WithoutFallbackAreErrorsThatSayWhatFailed) {
  Options options = machine().options();
  options.fallback = false;
  const EmulatedCounts sound = counts_of_a_sound_run();
  for (long n = 1; n <= sound.allocations; n += 5) {
    machine().plan({.fail_allocation = n});
    try {
      // A recording that cannot be made is done without, and not every run gets as far as the n-th.
      expect_expected_text(machine().transcribe(options));
      EXPECT_GT(n, sound.allocations / 2);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::out_of_memory || error.code() == ErrorCode::device)
          << error.what();
      EXPECT_THAT(error.what(), HasSubstr("Emulated GPU"));
    }
    expect_nothing_left();
  }
  machine().plan({.lost_at = sound.calls / 2});
  try {
    machine().transcribe(options);
    ADD_FAILURE() << "the loss was not noticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::device);
    EXPECT_THAT(error.what(), HasSubstr("stopped working"));
  }
  expect_nothing_left();
}

TEST_F(GpuFailures, OfOneModelDoNotTouchAnother) {
  Options options = machine().options();
  machine().plan({});
  const auto other = make_gpu_backend({.library = machine().library(), .compute_type = ComputeType::float32});
  machine().plan({.fail_launch = 40});
  expect_expected_text(machine().transcribe(options));
  EXPECT_EQ(machine().where(), "cpu");
  const auto memory = other->allocate(4);
  const std::vector<float> values{1, 2, 3, 4};
  std::vector<float> back(4);
  const Rows rows{memory.get(), 0, 1, 4, 4};
  other->write(rows, values);
  other->read(rows, back);
  EXPECT_EQ(back, values);
}

}  // namespace
}  // namespace sotto::test
