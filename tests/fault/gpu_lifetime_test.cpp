// Models that come and go on a GPU, emulated: from any thread, while others work; all memory comes back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fault/emulated_gpu.h"
#include "model/convert.h"
#include "whisper/tokenizer.h"

namespace sotto::test {
namespace {

class GpuLifetime : public testing::Test {
 protected:
  static void SetUpTestSuite() { machine_ = std::make_unique<EmulatedMachine>(); }
  static void TearDownTestSuite() { machine_.reset(); }
  void SetUp() override { machine().plan({}); }

  static EmulatedMachine& machine() { return *machine_; }

  static void expect_nothing_left() {
    const EmulatedCounts counts = machine().counts();
    EXPECT_EQ(counts.live_objects, 0);
    EXPECT_EQ(counts.live_bytes, 0u);
    EXPECT_EQ(counts.left_behind, 0);
    EXPECT_EQ(counts.violations, 0) << counts.first_violation;
  }

 private:
  static inline std::unique_ptr<EmulatedMachine> machine_;
};

// A model on the device, ready to be asked.
struct Running {
  explicit Running(EmulatedMachine& machine, const Options& options)
      : model(options, "the test", machine.model(), machine.checkpoint(),
              checkpoint_hash(machine.checkpoint())),
        tokenizer(machine.checkpoint().vocabulary),
        scheduler(model, machine.checkpoint().config, tokenizer, {options.batch_size, options.keep_alive}) {}

  PlacedModel model;
  Tokenizer tokenizer;
  Scheduler scheduler;
};

TEST_F(GpuLifetime, SwitchesWhileOthersWork) {
  constexpr int kSwitches = SOTTO_SLOW_BUILD != 0 ? 4 : 12;
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (const char* type : {"float32", "float32", "float16"})
    threads.emplace_back([&, type] {
      Options options = machine().options();
      options.compute_type = type;
      for (int i = 0; i < kSwitches; ++i) {
        Running running(machine(), options);
        const auto window = machine().windows().front();
        const WindowResult result = running.scheduler.submit(window, 0, nullptr).get();
        const bool is_right =
            std::string_view(type) != "float32" || same_result(result, machine().expected().front());
        if (!is_right || result.search.tokens.empty()) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  expect_nothing_left();
}

TEST_F(GpuLifetime, AModelThatEndsInTheMiddleOfItsWorkLeavesNothing) {
  {
    Running running(machine(), machine().options());
    for (const WindowRequest& window : machine().windows()) running.scheduler.submit(window, 0, nullptr);
  }
  expect_nothing_left();
}

TEST_F(GpuLifetime, AnIdleModelLeavesTheDeviceAndComesBack) {
  Options options = machine().options();
  options.keep_alive = 0;
  Running running(machine(), options);
  for (int round = 0; round < 2; ++round) {
    {
      const Scheduler::User user(running.scheduler);
      for (size_t i = 0; i < 2; ++i) {
        const WindowResult result = running.scheduler.submit(machine().windows()[i], 0, nullptr).get();
        EXPECT_TRUE(same_result(result, machine().expected()[i])) << "window " << i << " of round " << round;
      }
      EXPECT_GT(machine().counts().live_bytes, 0u);  // between the windows of a user it stays
    }
    for (int i = 0; machine().counts().live_objects > 0 && i < 2000; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    expect_nothing_left();
  }
  EXPECT_EQ(running.model.placement().device.id(), "cuda:0");
}

TEST_F(GpuLifetime, AModelThatChangedWhileItWasAwayIsRefused) {
  Options options = machine().options();
  PlacedModel model(options, "the test", machine().model(), machine().checkpoint(), "another hash");
  model.unload();
  EXPECT_THROW(model.network(), Error);
  expect_nothing_left();
}

}  // namespace
}  // namespace sotto::test
