#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "engine/scheduler.h"
#include "whisper/network.h"
#include "whisper/tokenizer.h"

namespace sotto {

// A model that is ready to work on a device. Any number of threads may share one; their device work takes
// turns.
class LoadedModel {
 public:
  explicit LoadedModel(const Options& options);  // model, device, compute_type, threads, batch_size

  const std::string& name() const noexcept { return name_; }
  const std::string& hash() const noexcept { return hash_; }  // of the weights
  bool demonstration() const noexcept { return demonstration_; }
  std::string device_line() const;  // what was chosen, for people
  ComputeType compute_type() const { return backend_->compute_type(); }
  std::string device() const { return backend_->description(); }

  const Network& network() const noexcept { return *network_; }
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
  std::unique_ptr<Backend> backend_;  // outlives the network
  std::unique_ptr<Network> network_;
  std::unique_ptr<Tokenizer> tokenizer_;
  GenerationConfig generation_;
  std::unique_ptr<Scheduler> scheduler_;  // last: its thread uses all of the above
};

}  // namespace sotto
