#include "engine/placed_model.h"

#include "base/log.h"
#include "device/detect.h"
#include "device/device_json.h"
#include "device/messages.h"
#include "device/self_test.h"
#include "model/convert.h"
#include "model/store.h"
#include "platform/mapped_file.h"

namespace sotto {
namespace {

DeviceRequest request_of(const Options& options, const std::string& origin) {
  const auto type = compute_type_from_name(options.compute_type);
  if (!type) throw Error(ErrorCode::usage, "there is no compute type '{}'", options.compute_type);
  return {options.device, origin, *type, options.threads, options.fallback};
}

// Nobody who asks for the CPU waits for a GPU's driver.
Catalogue catalogue_for(const Options& options) {
  if (parse_device_name(options.device).kind == DeviceKind::cpu) return {{cpu_device()}, {}};
  return find_devices({.probe_timeout = probe_timeout(options)});
}

OpenedDevice open_chosen(const Options& options, const std::string& origin) {
  const SelfTestCache cache(default_self_test_cache());
  Catalogue catalogue = catalogue_for(options);
  recall_self_tests(catalogue, cache);
  OpenedDevice opened = open_device(
      request_of(options, origin), catalogue, built_in_backends(),
      [&](const Device& device, Backend& backend) { return check_trust(device, backend, cache); });
  for (const DeviceNote& note : opened.notes) log_message(note.level, note.text);
  return opened;
}

bool is_failure_of_device(const Error& error) {
  return error.code() == ErrorCode::device || error.code() == ErrorCode::out_of_memory;
}

}  // namespace

PlacedModel::PlacedModel(const Options& options, std::string origin, std::string name,
                         const Checkpoint& checkpoint, std::string hash)
    : options_(options), origin_(std::move(origin)), name_(std::move(name)), hash_(std::move(hash)) {
  place(checkpoint);
}

const Placement& PlacedModel::placement() const {
  const std::lock_guard lock(mutex_);
  return placements_.back();
}

const Network& PlacedModel::network() {
  if (!network_) place(reopen());
  return *network_;
}

bool PlacedModel::replace(const Error& failure) {
  if (!is_failure_of_device(failure) || !options_.fallback || placement().device.kind == DeviceKind::cpu)
    return false;
  return replace(failure, reopen());
}

void PlacedModel::unload() noexcept {
  memory_used_ = 0;
  network_.reset();
  backend_.reset();
  release_freed_memory();
}

void PlacedModel::place(const Checkpoint& checkpoint) {
  try {
    use(open_chosen(options_, origin_), checkpoint);
  } catch (const Error& failure) {
    const bool on_gpu = backend_ != nullptr && placement().device.kind != DeviceKind::cpu;
    if (!on_gpu || !is_failure_of_device(failure) || !replace(failure, checkpoint)) throw;
  }
}

bool PlacedModel::replace(const Error& failure, const Checkpoint& checkpoint) {
  if (!options_.fallback) return false;
  const Device given_up = placement().device;
  log_message(LogLevel::warning, words::gave_up(given_up, failure.what()));
  unload();
  OpenedDevice opened = open_cpu(request_of(options_, origin_));
  opened.why = words::fallback_from(given_up.id(), failure.what());
  use(std::move(opened), checkpoint);
  return true;
}

void PlacedModel::use(OpenedDevice opened, const Checkpoint& checkpoint) {
  Placement placement{opened.device,
                      opened.line,
                      opened.backend->description(),
                      opened.backend->compute_type(),
                      opened.backend->computes_mel(),
                      device_record(opened)};
  {
    const std::lock_guard lock(mutex_);
    if (placements_.empty() || !(placements_.back() == placement))
      placements_.push_back(std::move(placement));
  }
  backend_ = std::move(opened.backend);
  backend_->use_fast_attention(options_.flash_attn);
  network_ = std::make_unique<Network>(*backend_, checkpoint);
  memory_used_ = backend_->memory_used();
}

Checkpoint PlacedModel::reopen() const {
  Checkpoint checkpoint = open_checkpoint(name_);
  if (checkpoint_hash(checkpoint) != hash_)
    throw Error(ErrorCode::bad_model, "{} has changed since it was loaded; load it again", checkpoint.source);
  return checkpoint;
}

}  // namespace sotto
