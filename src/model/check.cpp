#include <string_view>

#include "base/error.h"
#include "model/model_limits.h"
#include "model/reader.h"
#include "model/tensor_names.h"

namespace sotto {
namespace {

void check_size(const Checkpoint& checkpoint, std::string_view what, int64_t value, int64_t highest) {
  if (value < 1 || value > highest)
    throw Error(ErrorCode::bad_model, "{}: the {} is {}, which is not between 1 and {}", checkpoint.source,
                what, value, highest);
}

void check_heads(const Checkpoint& checkpoint, std::string_view where, int heads) {
  const int width = checkpoint.config.width;
  check_size(checkpoint, where, heads, limits::kHeads);
  if (width % heads != 0)
    throw Error(ErrorCode::bad_model, "{}: the {} {} does not divide the width {}", checkpoint.source, where,
                heads, width);
  if (width / heads > limits::kHeadSize)
    throw Error(ErrorCode::bad_model, "{}: the {} {} makes heads of {} values, more than {}",
                checkpoint.source, where, heads, width / heads, limits::kHeadSize);
}

void check_sizes(const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config;
  check_size(checkpoint, "number of mel bands", config.mel_bins, limits::kMelBins);
  check_size(checkpoint, "number of audio positions", config.audio_positions, limits::kPositions);
  check_size(checkpoint, "number of text positions", config.text_positions, limits::kPositions);
  check_size(checkpoint, "width", config.width, limits::kWidth);
  check_size(checkpoint, "vocabulary size", config.vocabulary, limits::kVocabulary);
  check_size(checkpoint, "number of encoder layers", config.encoder_layers, limits::kLayers);
  check_size(checkpoint, "number of decoder layers", config.decoder_layers, limits::kLayers);
  check_size(checkpoint, "encoder's inner width", config.encoder_ffn, limits::kFfn);
  check_size(checkpoint, "decoder's inner width", config.decoder_ffn, limits::kFfn);
  check_heads(checkpoint, "number of encoder heads", config.encoder_heads);
  check_heads(checkpoint, "number of decoder heads", config.decoder_heads);
}

bool is_plain_float(DType type) {
  return type == DType::f32 || type == DType::f16 || type == DType::bf16;
}

void check_tensor(const Checkpoint& checkpoint, const TensorSpec& spec) {
  const auto found = checkpoint.tensors.find(spec.name);
  if (found == checkpoint.tensors.end())
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' is missing", checkpoint.source, spec.name);
  const TensorView& tensor = found->second;
  if (tensor.shape != spec.shape)
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' has the shape {} but should have {}",
                checkpoint.source, spec.name, shape_text(tensor.shape), shape_text(spec.shape));
  if (spec.shape.size() == 1 && !is_plain_float(tensor.dtype))
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' is {}, but biases and norms cannot be quantised",
                checkpoint.source, spec.name, dtype_name(tensor.dtype));
  if (tensor.data.size() != tensor_bytes(tensor.dtype, tensor.shape))
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' has {} bytes but needs {}", checkpoint.source,
                spec.name, tensor.data.size(), tensor_bytes(tensor.dtype, tensor.shape));
  const size_t scales = tensor.scales.size() / sizeof(float);
  const bool scaled = tensor.dtype == DType::i8;
  if (scaled ? (scales != 1 && scales != static_cast<size_t>(tensor.rows())) : !tensor.scales.empty())
    throw Error(ErrorCode::bad_model, "{}: the {} tensor '{}' has {} scales", checkpoint.source,
                dtype_name(tensor.dtype), spec.name, scales);
}

void check_tokens(const Checkpoint& checkpoint, std::string_view list,
                  const std::optional<std::vector<TokenId>>& tokens) {
  if (!tokens) return;
  for (const TokenId token : *tokens)
    if (token < 0 || token >= checkpoint.config.vocabulary)
      throw Error(ErrorCode::bad_model, "{}: the {} name the token {}, outside the vocabulary",
                  checkpoint.source, list, token);
}

void check_generation(const Checkpoint& checkpoint) {
  const GenerationConfig& generation = checkpoint.generation;
  check_tokens(checkpoint, "suppressed tokens", generation.suppress_tokens);
  check_tokens(checkpoint, "tokens suppressed at the start", generation.begin_suppress_tokens);
  for (const auto& [layer, head] : generation.alignment_heads)
    if (layer < 0 || layer >= checkpoint.config.decoder_layers || head < 0 ||
        head >= checkpoint.config.decoder_heads)
      throw Error(ErrorCode::bad_model, "{}: the alignment head {} of layer {} does not exist",
                  checkpoint.source, head, layer);
}

}  // namespace

void check_weights(const Checkpoint& checkpoint) {
  check_sizes(checkpoint);
  for (const TensorSpec& spec : expected_tensors(checkpoint.config)) check_tensor(checkpoint, spec);
  if (checkpoint.tensors.contains(kOutputMatrix))
    check_tensor(checkpoint, {kOutputMatrix, {checkpoint.config.vocabulary, checkpoint.config.width}});
  check_generation(checkpoint);
}

void check_checkpoint(const Checkpoint& checkpoint) {
  check_weights(checkpoint);
  const auto tokens = static_cast<size_t>(checkpoint.config.vocabulary);
  if (checkpoint.vocabulary.tokens.size() != tokens || checkpoint.vocabulary.special.size() != tokens)
    throw Error(ErrorCode::bad_model, "{}: the vocabulary has {} tokens but the network {}",
                checkpoint.source, checkpoint.vocabulary.tokens.size(), tokens);
}

}  // namespace sotto
