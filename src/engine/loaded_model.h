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
  // Uses model, device, fallback, probe_timeout, compute_type, threads and batch_size. `device_origin` says,
  // for people, who asked for the device. What was passed over on the way goes to the log.
  explicit LoadedModel(const Options& options, const std::string& device_origin = {});

  const std::string& name() const noexcept { return name_; }
  const std::string& hash() const noexcept { return hash_; }  // of the weights
  bool demonstration() const noexcept { return demonstration_; }
  const std::string& device_line() const noexcept { return device_line_; }  // what was chosen, for people
  ComputeType compute_type() const { return backend_->compute_type(); }
  std::string device() const { return backend_->description(); }
  size_t memory_used() const { return backend_->memory_used(); }  // bytes on the device
  // Kind, name, architecture, compute type, driver, why this one: name and value.
  const std::vector<std::pair<std::string, std::string>>& device_record() const noexcept {
    return device_record_;
  }

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
  std::string name_, hash_, device_line_;
  std::vector<std::pair<std::string, std::string>> device_record_;
  bool demonstration_ = false;
  std::unique_ptr<Backend> backend_;  // outlives the network
  std::unique_ptr<Network> network_;
  std::unique_ptr<Tokenizer> tokenizer_;
  GenerationConfig generation_;
  std::unique_ptr<Scheduler> scheduler_;  // last: its thread uses all of the above
};

}  // namespace sotto
