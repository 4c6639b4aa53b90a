#include <map>

#include "model/convert.h"
#include "model/json_text.h"

namespace sotto {
namespace {

// English-only releases list all language tokens but were never trained on them; this size is theirs alone.
constexpr int kEnglishOnlyVocabulary = 51864;

// A language's token is "<|" + two or three small letters + "|>".
bool is_language_token(std::string_view token) {
  if (!token.starts_with("<|") || !token.ends_with("|>") || token.size() < 6 || token.size() > 7)
    return false;
  const std::string_view code = token.substr(2, token.size() - 4);
  return code.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
}

std::vector<std::string> language_codes(const Vocabulary& vocabulary) {
  if (vocabulary.tokens.size() == kEnglishOnlyVocabulary) return {"en"};
  std::vector<std::string> codes;
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& token = vocabulary.tokens[id];
    if (vocabulary.special[id] && is_language_token(token))
      codes.push_back(token.substr(2, token.size() - 4));
  }
  return codes;
}

Json describe_tensors(const Checkpoint& checkpoint, int64_t& parameters) {
  struct Total {
    int64_t tensors = 0, values = 0;
    size_t bytes = 0;
  };
  std::map<std::string_view, Total> totals;
  parameters = 0;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    Total& total = totals[dtype_name(tensor.dtype)];
    total.tensors += 1;
    total.values += tensor.elements();
    total.bytes += tensor.data.size() + tensor.scales.size();
    parameters += tensor.elements();
  }
  Json types = Json::object();
  for (const auto& [type, total] : totals)
    types[std::string(type)] = {{"tensors", total.tensors}, {"values", total.values}, {"bytes", total.bytes}};
  return types;
}

}  // namespace

std::string describe_checkpoint(const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config;
  const std::vector<std::string> languages = language_codes(checkpoint.vocabulary);
  int64_t parameters = 0;
  const Json tensor_types = describe_tensors(checkpoint, parameters);
  const Json json = {
      {"source", checkpoint.source},
      {"format", checkpoint.format},
      {"parameters", parameters},
      {"mel_bins", config.mel_bins},
      {"audio_positions", config.audio_positions},
      {"text_positions", config.text_positions},
      {"width", config.width},
      {"vocabulary", config.vocabulary},
      {"encoder",
       {{"layers", config.encoder_layers}, {"heads", config.encoder_heads}, {"ffn", config.encoder_ffn}}},
      {"decoder",
       {{"layers", config.decoder_layers}, {"heads", config.decoder_heads}, {"ffn", config.decoder_ffn}}},
      {"tensor_types", tensor_types},
      {"languages", languages},
      {"multilingual", languages.size() > 1},
      {"alignment_heads", checkpoint.generation.alignment_heads},
  };
  // A path need not be UTF-8; JSON must be.
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sotto
