#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "engine/placed_model.h"
#include "engine/scheduler.h"
#include "whisper/tokenizer.h"

namespace sotto {

// A model that is ready to work on a device. Any number of threads may share one; their device work takes
// turns. Where the device fails in the middle of the work, the CPU goes on (unless the options forbid it);
// where there is no work for a time, the device's memory may be given back until there is again.
class LoadedModel {
 public:
  // Uses model, device, fallback, probe_timeout, compute_type, threads, batch_size and keep_alive.
  // `device_origin` says, for people, who asked for the device. What was passed over on the way, and a device
  // that is given up later, goes to the log.
  explicit LoadedModel(const Options& options, const std::string& device_origin = {});

  const std::string& name() const noexcept { return name_; }
  const std::string& hash() const noexcept { return hash_; }  // of the weights
  bool demonstration() const noexcept { return demonstration_; }
  const Placement& placement() const { return model_->placement(); }  // now; the reference stays good
  size_t memory_used() const { return model_->memory_used(); }        // bytes on the device

  const ModelConfig& config() const noexcept { return config_; }
  const Tokenizer& tokenizer() const noexcept { return *tokenizer_; }
  const GenerationConfig& generation() const noexcept { return generation_; }

  bool can_translate() const noexcept;

  // Decoder heads whose attention follows the audio: the model's own list, else all of the upper half of the
  // layers.
  std::vector<std::pair<int, int>> alignment_heads() const;

  // All device work goes through it.
  Scheduler& scheduler() noexcept { return *scheduler_; }

 private:
  std::string name_, hash_;
  bool demonstration_ = false;
  ModelConfig config_;
  std::unique_ptr<PlacedModel> model_;
  std::unique_ptr<Tokenizer> tokenizer_;
  GenerationConfig generation_;
  std::unique_ptr<Scheduler> scheduler_;  // last: its thread uses all of the above
};

}  // namespace sotto
