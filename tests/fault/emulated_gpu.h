#pragma once

#include <string>
#include <vector>

#include "base/options.h"
#include "engine/placed_model.h"
#include "engine/scheduler.h"
#include "fault/emulated/control.h"
#include "fault/scenario.h"
#include "platform/dynamic_library.h"

namespace sotto::test {

// A machine whose only GPU is emulated on the CPU, and has passed the self-test (which would take minutes
// there). A very small model lies ready, and what the CPU makes of some windows with it.
class EmulatedMachine {
 public:
  EmulatedMachine();
  ~EmulatedMachine();

  void plan(const EmulatedPlan& plan) { set_plan_(plan); }
  EmulatedCounts counts() const;

  // Options for the emulated GPU in float32, whose results are the CPU's.
  Options options() const;
  const std::string& model() const noexcept { return model_; }
  const Checkpoint& checkpoint() const noexcept { return checkpoint_; }

  const std::filesystem::path& library() const noexcept { return library_.path(); }  // the driver's

  // All windows through a model that is placed, used and given back; in the order of the windows.
  std::vector<WindowResult> transcribe(const Options& options);
  const std::vector<WindowResult>& expected() const noexcept { return expected_; }
  std::vector<WindowRequest> windows() const;

  std::vector<std::string> warnings();          // since last asked
  std::string where() const { return where_; }  // the last transcription ended: its device
  std::string why() const { return why_; }

 private:
  FakeSystem system_;
  DynamicLibrary library_;
  SetEmulatedPlan set_plan_;
  ReadEmulatedCounts read_counts_;
  TemporaryFolder folder_;
  std::string model_;
  Checkpoint checkpoint_;
  std::string hash_;
  std::vector<WindowResult> expected_;
  std::vector<std::string> warnings_;
  std::mutex mutex_;  // of the warnings
  std::string where_, why_;
};

bool same_result(const WindowResult& a, const WindowResult& b);

}  // namespace sotto::test
