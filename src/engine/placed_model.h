#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/options.h"
#include "device/choice.h"
#include "engine/network_source.h"

namespace sotto {

// Where a model is, for people and for records.
struct Placement {
  Device device;
  std::string line;         // what was chosen, in one line
  std::string description;  // the backend's own words
  ComputeType compute_type{};
  bool computes_mel = false;                                // windows are best sent as samples
  std::vector<std::pair<std::string, std::string>> record;  // name and value

  bool operator==(const Placement& other) const { return line == other.line && record == other.record; }
};

// A model's network on the device that was chosen for it, or on the CPU when that device gives up.
class PlacedModel final : public NetworkSource {
 public:
  // Uses device, fallback, probe_timeout, compute_type, threads and flash_attn. The model is `name`; `origin`
  // says, for people, who asked for the device. Opens the device and moves the checkpoint's weights there.
  PlacedModel(const Options& options, std::string origin, std::string name, const Checkpoint& checkpoint,
              std::string hash);

  // Where it is, or was last. The reference stays good; any thread may ask.
  const Placement& placement() const;
  size_t memory_used() const noexcept { return memory_used_; }  // bytes on the device

  const Network& network() override;
  bool replace(const Error& failure) override;
  void unload() noexcept override;

 private:
  void place(const Checkpoint& checkpoint);  // on the device that is asked for, or with fallback on the CPU
  bool replace(const Error& failure, const Checkpoint& checkpoint);
  void use(OpenedDevice opened, const Checkpoint& checkpoint);
  Checkpoint reopen() const;

  const Options options_;
  const std::string origin_, name_, hash_;
  mutable std::mutex mutex_;
  std::deque<Placement> placements_;  // guarded by mutex_; only ever longer, so that references stay good
  std::atomic<size_t> memory_used_ = 0;
  std::unique_ptr<Backend> backend_;  // outlives the network
  std::unique_ptr<Network> network_;
};

}  // namespace sotto
