#include "engine/loaded_model.h"

#include "base/error.h"
#include "base/log.h"
#include "device/choice.h"
#include "device/detect.h"
#include "device/device_json.h"
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
  OpenedDevice opened = open_device(
      request_of(options, origin), catalogue_for(options), built_in_backends(),
      [&](const Device& device, Backend& backend) { return check_trust(device, backend, cache); });
  for (const DeviceNote& note : opened.notes) log_message(note.level, note.text);
  return opened;
}

}  // namespace

LoadedModel::LoadedModel(const Options& options, const std::string& device_origin) : name_(options.model) {
  demonstration_ = is_embedded_model(name_);
  if (demonstration_) name_ = "nano";
  OpenedDevice opened = open_chosen(options, device_origin);
  device_line_ = std::move(opened.line);
  device_record_ = sotto::device_record(opened);
  backend_ = std::move(opened.backend);
  Checkpoint checkpoint = open_checkpoint(name_);
  hash_ = checkpoint_hash(checkpoint);
  network_ = std::make_unique<Network>(*backend_, checkpoint);
  tokenizer_ = std::make_unique<Tokenizer>(std::move(checkpoint.vocabulary));
  generation_ = std::move(checkpoint.generation);
  checkpoint.tensors.clear();
  release_freed_memory();  // reading a large vocabulary leaves much behind
  scheduler_ = std::make_unique<Scheduler>(*network_, *tokenizer_, options.batch_size);
}

bool LoadedModel::can_translate() const noexcept {
  // large-v3-turbo and the distilled models, which have lost most of their decoder, were not trained to
  // translate.
  const ModelConfig& config = network_->config();
  const bool shortened = config.decoder_layers * 2 < config.encoder_layers;
  return tokenizer_->multilingual() && tokenizer_->special().translate != SpecialTokens::none && !shortened;
}

std::vector<std::pair<int, int>> LoadedModel::alignment_heads() const {
  if (!generation_.alignment_heads.empty()) return generation_.alignment_heads;
  const ModelConfig& config = network_->config();
  std::vector<std::pair<int, int>> heads;
  for (int layer = config.decoder_layers / 2; layer < config.decoder_layers; ++layer)
    for (int head = 0; head < config.decoder_heads; ++head) heads.emplace_back(layer, head);
  return heads;
}

}  // namespace sotto
