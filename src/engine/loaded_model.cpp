#include "engine/loaded_model.h"

#include "model/convert.h"
#include "model/store.h"
#include "platform/mapped_file.h"

namespace sotto {

LoadedModel::LoadedModel(const Options& options, const std::string& device_origin) : name_(options.model) {
  demonstration_ = is_embedded_model(name_);
  if (demonstration_) name_ = "nano";
  Checkpoint checkpoint = open_checkpoint(name_);
  config_ = checkpoint.config;
  hash_ = checkpoint_hash(checkpoint);
  model_ = std::make_unique<PlacedModel>(options, device_origin, name_, checkpoint, hash_);
  tokenizer_ = std::make_unique<Tokenizer>(std::move(checkpoint.vocabulary));
  generation_ = std::move(checkpoint.generation);
  checkpoint.tensors.clear();
  release_freed_memory();  // reading a large vocabulary leaves much behind
  scheduler_ = std::make_unique<Scheduler>(*model_, config_, *tokenizer_,
                                           SchedulerOptions{options.batch_size, options.keep_alive});
}

bool LoadedModel::can_translate() const noexcept {
  // large-v3-turbo and the distilled models, which have lost most of their decoder, were not trained to
  // translate.
  const bool shortened = config_.decoder_layers * 2 < config_.encoder_layers;
  return tokenizer_->multilingual() && tokenizer_->special().translate != SpecialTokens::none && !shortened;
}

std::vector<std::pair<int, int>> LoadedModel::alignment_heads() const {
  if (!generation_.alignment_heads.empty()) return generation_.alignment_heads;
  std::vector<std::pair<int, int>> heads;
  for (int layer = config_.decoder_layers / 2; layer < config_.decoder_layers; ++layer)
    for (int head = 0; head < config_.decoder_heads; ++head) heads.emplace_back(layer, head);
  return heads;
}

}  // namespace sotto
