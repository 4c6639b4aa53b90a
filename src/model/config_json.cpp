#include "model/config_json.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "model/model_limits.h"
#include "model/tensor_names.h"

namespace sotto {
namespace {

struct SizeKey {
  const char* key;
  int ModelConfig::*member;
  int highest;
};

constexpr std::array<SizeKey, 11> kSizes = {{
    {"num_mel_bins", &ModelConfig::mel_bins, limits::kMelBins},
    {"max_source_positions", &ModelConfig::audio_positions, limits::kPositions},
    {"max_target_positions", &ModelConfig::text_positions, limits::kPositions},
    {"d_model", &ModelConfig::width, limits::kWidth},
    {"vocab_size", &ModelConfig::vocabulary, limits::kVocabulary},
    {"encoder_layers", &ModelConfig::encoder_layers, limits::kLayers},
    {"encoder_attention_heads", &ModelConfig::encoder_heads, limits::kHeads},
    {"encoder_ffn_dim", &ModelConfig::encoder_ffn, limits::kFfn},
    {"decoder_layers", &ModelConfig::decoder_layers, limits::kLayers},
    {"decoder_attention_heads", &ModelConfig::decoder_heads, limits::kHeads},
    {"decoder_ffn_dim", &ModelConfig::decoder_ffn, limits::kFfn},
}};

// The front end's own figures; a model that names others was trained on other features.
struct FeatureKey {
  const char* key;
  int value;
};
constexpr std::array<FeatureKey, 3> kFeatures = {
    {{"sampling_rate", 16000}, {"hop_length", 160}, {"n_fft", 400}}};

std::vector<TokenId> read_tokens(const Json& list, const char* key, const ModelConfig& config,
                                 std::string_view name) {
  if (!list.is_array()) throw Error(ErrorCode::bad_model, "{}: '{}' should be a list", name, key);
  std::vector<TokenId> tokens;
  for (const Json& token : list)
    tokens.push_back(static_cast<TokenId>(integer_value(token, key, name, 0, config.vocabulary - 1)));
  return tokens;
}

std::vector<std::pair<int, int>> read_alignment_heads(const Json& list, const ModelConfig& config,
                                                      std::string_view name) {
  constexpr const char* kKey = "alignment_heads";
  if (!list.is_array()) throw Error(ErrorCode::bad_model, "{}: '{}' should be a list", name, kKey);
  std::vector<std::pair<int, int>> heads;
  for (const Json& pair : list) {
    if (!pair.is_array() || pair.size() != 2)
      throw Error(ErrorCode::bad_model, "{}: '{}' should hold pairs of layer and head", name, kKey);
    const auto layer = integer_value(pair[0], kKey, name, 0, config.decoder_layers - 1);
    const auto head = integer_value(pair[1], kKey, name, 0, config.decoder_heads - 1);
    heads.emplace_back(static_cast<int>(layer), static_cast<int>(head));
  }
  return heads;
}

std::optional<size_t> find_token(const Vocabulary& vocabulary, std::string_view name) {
  const auto found = std::find(vocabulary.tokens.begin(), vocabulary.tokens.end(), name);
  if (found == vocabulary.tokens.end()) return std::nullopt;
  return static_cast<size_t>(found - vocabulary.tokens.begin());
}

void put_token(Json& json, const char* key, const Vocabulary& vocabulary, std::string_view name) {
  if (const auto id = find_token(vocabulary, name)) json[key] = *id;
}

void put_special_tokens(Json& json, const Vocabulary& vocabulary) {
  for (const char* key : {"bos_token_id", "eos_token_id", "pad_token_id"})
    put_token(json, key, vocabulary, "<|endoftext|>");
  put_token(json, "decoder_start_token_id", vocabulary, "<|startoftranscript|>");
}

constexpr int kIndent = 1;

}  // namespace

ModelConfig model_config_from_json(const Json& config, std::string_view name) {
  const Json* type = find_member(config, "model_type");
  if (type == nullptr || *type != Json("whisper"))
    throw Error(ErrorCode::bad_model, "{}: 'model_type' is {}, but only \"whisper\" models can be read", name,
                type == nullptr ? "missing" : type->dump(-1, ' ', false, Json::error_handler_t::replace));
  if (const Json* activation = find_member(config, "activation_function");
      activation != nullptr && *activation != Json("gelu"))
    throw Error(ErrorCode::unsupported, "{}: the activation function {} is not Whisper's \"gelu\"", name,
                activation->dump());
  if (const Json* scaled = find_member(config, "scale_embedding"); scaled != nullptr && *scaled == Json(true))
    throw Error(ErrorCode::unsupported, "{}: 'scale_embedding' is true, which no released Whisper uses",
                name);
  ModelConfig sizes;
  for (const SizeKey& size : kSizes)
    sizes.*size.member = required_integer(config, size.key, name, 1, size.highest);
  return sizes;
}

bool ties_output_to_embedding(const Json& config) {
  const Json* tied = find_member(config, "tie_word_embeddings");
  return tied == nullptr || *tied != Json(false);
}

void read_generation_json(const Json& json, const ModelConfig& config, std::string_view name,
                          GenerationConfig& generation) {
  if (const Json* tokens = find_member(json, "suppress_tokens"))
    generation.suppress_tokens = read_tokens(*tokens, "suppress_tokens", config, name);
  if (const Json* tokens = find_member(json, "begin_suppress_tokens"))
    generation.begin_suppress_tokens = read_tokens(*tokens, "begin_suppress_tokens", config, name);
  if (const auto index =
          optional_integer(json, "max_initial_timestamp_index", name, 0, config.audio_positions))
    generation.max_initial_timestamp_index = index;
  if (const Json* heads = find_member(json, "alignment_heads"))
    generation.alignment_heads = read_alignment_heads(*heads, config, name);
}

void check_preprocessor_json(const Json& preprocessor, const ModelConfig& config, std::string_view name) {
  const auto bins = optional_integer(preprocessor, "feature_size", name, 1, limits::kMelBins);
  if (bins && *bins != config.mel_bins)
    throw Error(ErrorCode::bad_model, "{}: 'feature_size' is {} but the model takes {} mel bands", name,
                *bins, config.mel_bins);
  for (const FeatureKey& feature : kFeatures) {
    const auto value = optional_integer(preprocessor, feature.key, name, 1, 1'000'000);
    if (value && *value != feature.value)
      throw Error(ErrorCode::unsupported, "{}: '{}' is {}, but Whisper's features need {}", name, feature.key,
                  *value, feature.value);
  }
}

std::string config_json_text(const Checkpoint& checkpoint) {
  Json json = {{"architectures", {"WhisperForConditionalGeneration"}},
               {"model_type", "whisper"},
               {"activation_function", "gelu"},
               {"is_encoder_decoder", true},
               {"scale_embedding", false},
               {"tie_word_embeddings", !checkpoint.tensors.contains(kOutputMatrix)}};
  for (const SizeKey& size : kSizes) json[size.key] = checkpoint.config.*size.member;
  put_special_tokens(json, checkpoint.vocabulary);
  return json.dump(kIndent);
}

std::string generation_json_text(const Checkpoint& checkpoint) {
  const GenerationConfig& generation = checkpoint.generation;
  Json json = Json::object();
  put_special_tokens(json, checkpoint.vocabulary);
  put_token(json, "no_timestamps_token_id", checkpoint.vocabulary, "<|notimestamps|>");
  put_token(json, "prev_sot_token_id", checkpoint.vocabulary, "<|startofprev|>");
  json["max_length"] = checkpoint.config.text_positions;
  if (generation.suppress_tokens) json["suppress_tokens"] = *generation.suppress_tokens;
  if (generation.begin_suppress_tokens) json["begin_suppress_tokens"] = *generation.begin_suppress_tokens;
  if (generation.max_initial_timestamp_index)
    json["max_initial_timestamp_index"] = *generation.max_initial_timestamp_index;
  if (!generation.alignment_heads.empty()) json["alignment_heads"] = generation.alignment_heads;
  return json.dump(kIndent);
}

std::string preprocessor_json_text(const ModelConfig& config) {
  Json json = {{"feature_extractor_type", "WhisperFeatureExtractor"}, {"feature_size", config.mel_bins}};
  for (const FeatureKey& feature : kFeatures) json[feature.key] = feature.value;
  return json.dump(kIndent);
}

}  // namespace sotto
