#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "device/catalogue.h"

namespace sotto {

struct SelfTestResult {
  bool passed = false;
  double error = 0;  // of the logits against the CPU's in float32: root mean square of the difference over
                     // that of the CPU's, both less their row's mean
  double bound = 0;  // the largest error that passes
  std::string text;  // what the device heard
  std::string expected;
  std::optional<DeviceTiming> timing;
};

// The built-in clip and the embedded model, ready for a network: the same work for every device.
class SelfTest {
 public:
  SelfTest();
  ~SelfTest();
  SelfTest(const SelfTest&) = delete;
  SelfTest& operator=(const SelfTest&) = delete;

  // Transcribes the clip on the device and compares with the CPU. A device that throws has failed; its words
  // are the text.
  SelfTestResult run(Backend& backend) const;

  // Seconds that the device needs to encode the clip's window, and the CPU in its best type: the best of
  // several runs.
  DeviceTiming time(Backend& backend) const;
  double encode_seconds(Backend& backend) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

double self_test_bound(ComputeType type) noexcept;

// Remembers results for as long as device, driver, compute type and program stay the same. A damaged or
// missing file is as good as an empty one.
class SelfTestCache {
 public:
  explicit SelfTestCache(std::filesystem::path file);

  std::optional<SelfTestResult> find(const Device& device, ComputeType type) const;
  void store(const Device& device, ComputeType type, const SelfTestResult& result) const noexcept;

 private:
  std::filesystem::path file_;
};

std::filesystem::path default_self_test_cache();

// The reason not to trust the device; nothing: it may be used. The CPU is the yardstick and is not tested.
std::optional<Finding> check_trust(const Device& device, Backend& backend, const SelfTestCache& cache);

// Devices get what is known of them: that they failed, as their obstacle; how fast they are.
void recall_self_tests(Catalogue& catalogue, const SelfTestCache& cache);

Finding distrust(const Device& device, ComputeType type, const SelfTestResult& result);

}  // namespace sotto
