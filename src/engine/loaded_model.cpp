#include "engine/loaded_model.h"

#include "backend/cpu/cpu_backend.h"
#include "base/error.h"
#include "model/convert.h"
#include "model/store.h"
#include "platform/mapped_file.h"

namespace sotto {
namespace {

std::unique_ptr<Backend> open_device(const Options& options) {
  const auto type = compute_type_from_name(options.compute_type);
  if (!type) throw Error(ErrorCode::usage, "there is no compute type '{}'", options.compute_type);
  if (options.device != "auto" && options.device != "cpu")
    throw Error(ErrorCode::unsupported, "the device '{}' is not supported by this build; it has: cpu",
                options.device);
  return make_cpu_backend({.compute_type = *type, .threads = options.threads});
}

}  // namespace

LoadedModel::LoadedModel(const Options& options) : name_(options.model) {
  demonstration_ = is_embedded_model(name_);
  if (demonstration_) name_ = "nano";
  backend_ = open_device(options);
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

std::string LoadedModel::device_line() const {
  return fmt::format("Using {} ({})", backend_->description(), compute_type_name(backend_->compute_type()));
}

}  // namespace sotto
