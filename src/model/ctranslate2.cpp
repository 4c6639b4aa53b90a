#include "model/ctranslate2.h"

#include <set>

#include "model/byte_reader.h"
#include "model/config_json.h"
#include "model/ctranslate2_file.h"
#include "model/json_text.h"
#include "model/model_limits.h"
#include "model/official_models.h"
#include "model/tensor_names.h"
#include "model/vocabulary.h"

// A CTranslate2 folder: model.bin with fused attention matrices, config.json with what it says about
// decoding, and a vocabulary. Tensors are views into the file: the fused matrices are cut by rows.
namespace sotto {
namespace {

// Turns CTranslate2's variables into a Checkpoint's tensors and keeps account of which were used.
class TensorMap {
 public:
  TensorMap(const NamedBytes& file, const Ctranslate2File& model) : file_(file), model_(model) {}

  bool has(const std::string& name) const { return model_.find(name) != nullptr; }

  int64_t dimension(const std::string& name, size_t index) {
    const Ctranslate2Variable& variable = require(name);
    if (index >= variable.shape.size())
      fail(name, fmt::format("has the shape {}", shape_text(variable.shape)));
    return variable.shape[index];
  }

  int64_t scalar(const std::string& name) {
    const Ctranslate2Variable& variable = require(name);
    ByteReader in(variable.data, file_.name);
    if (shape_elements(variable.shape) == 1) {
      if (variable.type == Ctranslate2Type::i8) return in.read<int8_t>(name);
      if (variable.type == Ctranslate2Type::i16) return in.read<int16_t>(name);
      if (variable.type == Ctranslate2Type::i32) return in.read<int32_t>(name);
    }
    fail(name, "is no whole number");
  }

  void add(const std::string& to, const std::string& from) { tensors_[to] = view(from); }

  void add_linear(const std::string& to, const std::string& from) {
    add(to + ".weight", from + "/weight");
    add(to + ".bias", from + "/bias");
  }

  void add_norm(const std::string& to, const std::string& from) {
    add(to + ".weight", from + "/gamma");
    add(to + ".bias", from + "/beta");
  }

  // Several layers' rows under one another. The bias of a key projection, zeros in the file, is left out: it
  // would cancel in the softmax.
  void add_fused(const std::vector<std::string>& to, const std::string& from) {
    const TensorView weight = view(from + "/weight"), bias = view(from + "/bias");
    const auto parts = static_cast<int64_t>(to.size());
    for (const TensorView* fused : {&weight, &bias})
      if (fused->shape.empty() || fused->shape.front() % parts != 0)
        fail(from,
             fmt::format("cannot be cut into {} layers: its shape is {}", parts, shape_text(fused->shape)));
    for (size_t i = 0; i < to.size(); ++i) {
      tensors_[to[i] + ".weight"] = part(weight, i, to.size());
      if (!to[i].ends_with("k_proj")) tensors_[to[i] + ".bias"] = part(bias, i, to.size());
    }
  }

  // A matrix that we would ignore means a network that we would compute wrongly.
  void require_all_used() const {
    for (const auto& [name, variable] : model_.variables)
      if (shape_elements(variable.shape) != 1 && !used_.contains(&variable))
        fail(std::string(name), "is no part of a Whisper network");
  }

  std::map<std::string, TensorView> take() { return std::move(tensors_); }

 private:
  [[noreturn]] void fail(const std::string& name, std::string_view reason) const {
    throw Error(ErrorCode::bad_model, "{}: the variable '{}' {}", file_.name, printable(name), reason);
  }

  const Ctranslate2Variable& require(const std::string& name) {
    const Ctranslate2Variable* variable = model_.find(name);
    if (variable == nullptr) fail(name, "is missing");
    used_.insert(variable);
    return *variable;
  }

  TensorView view(const std::string& name) {
    const Ctranslate2Variable& variable = require(name);
    TensorView view;
    switch (variable.type) {
      case Ctranslate2Type::f32:
        view.dtype = DType::f32;
        break;
      case Ctranslate2Type::f16:
        view.dtype = DType::f16;
        break;
      case Ctranslate2Type::bf16:
        view.dtype = DType::bf16;
        break;
      case Ctranslate2Type::i8:
        view.dtype = DType::i8;
        break;
      default:
        fail(name, "is of a type that is not supported: only float32, float16, bfloat16 and int8 are");
    }
    view.shape = variable.shape;
    view.data = variable.data;
    view.owner = file_.region;
    if (view.dtype == DType::i8) view.scales = scales(name, variable);
    return view;
  }

  std::span<const std::byte> scales(const std::string& name, const Ctranslate2Variable& quantised) {
    const Ctranslate2Variable& scale = require(name + "_scale");
    const auto count = static_cast<int64_t>(scale.data.size() / sizeof(float));
    if (scale.type != Ctranslate2Type::f32) fail(name + "_scale", "is not float32");
    if (quantised.shape.size() < 2 || (count != 1 && count != quantised.shape.front()))
      fail(name, fmt::format("of shape {} has {} scales", shape_text(quantised.shape), count));
    return scale.data;
  }

  static TensorView part(const TensorView& whole, size_t index, size_t parts) {
    TensorView view = whole;
    view.shape.front() /= static_cast<int64_t>(parts);
    const size_t bytes = whole.data.size() / parts;
    view.data = whole.data.subspan(index * bytes, bytes);
    const size_t scale_bytes = whole.scales.size() / parts;
    if (whole.scales.size() > sizeof(float))
      view.scales = whole.scales.subspan(index * scale_bytes, scale_bytes);
    return view;
  }

  const NamedBytes& file_;
  const Ctranslate2File& model_;
  std::map<std::string, TensorView> tensors_;
  std::set<const Ctranslate2Variable*> used_;
};

int count_layers(const TensorMap& map, const std::string& half) {
  int layers = 0;
  while (layers < limits::kLayers && map.has(fmt::format("{}/layer_{}/ffn/linear_0/weight", half, layers)))
    ++layers;
  return layers;
}

// 0 for what no model can have, which check_checkpoint refuses; so a size never wraps around.
int as_size(int64_t value) {
  return value >= 0 && value <= limits::kVocabulary ? static_cast<int>(value) : 0;
}

ModelConfig read_config(TensorMap& map) {
  ModelConfig config;
  config.width = as_size(map.dimension("encoder/conv1/weight", 0));
  config.mel_bins = as_size(map.dimension("encoder/conv1/weight", 1));
  config.audio_positions = as_size(map.dimension("encoder/position_encodings/encodings", 0));
  config.text_positions = as_size(map.dimension("decoder/position_encodings/encodings", 0));
  config.vocabulary = as_size(map.dimension("decoder/embeddings/weight", 0));
  config.encoder_layers = count_layers(map, "encoder");
  config.decoder_layers = count_layers(map, "decoder");
  config.encoder_heads = as_size(map.scalar("encoder/num_heads"));
  config.decoder_heads = as_size(map.scalar("decoder/num_heads"));
  config.encoder_ffn = as_size(map.dimension("encoder/layer_0/ffn/linear_0/weight", 0));
  config.decoder_ffn = as_size(map.dimension("decoder/layer_0/ffn/linear_0/weight", 0));
  return config;
}

void add_layer(TensorMap& map, const std::string& to, const std::string& from, bool reads_encoder) {
  const std::string self_to = to + ".self_attn", self_from = from + "/self_attention";
  map.add_norm(to + ".self_attn_layer_norm", self_from + "/layer_norm");
  map.add_fused({self_to + ".q_proj", self_to + ".k_proj", self_to + ".v_proj"}, self_from + "/linear_0");
  map.add_linear(self_to + ".out_proj", self_from + "/linear_1");
  if (reads_encoder) {
    const std::string cross_to = to + ".encoder_attn", cross_from = from + "/attention";
    map.add_norm(to + ".encoder_attn_layer_norm", cross_from + "/layer_norm");
    map.add_linear(cross_to + ".q_proj", cross_from + "/linear_0");
    map.add_fused({cross_to + ".k_proj", cross_to + ".v_proj"}, cross_from + "/linear_1");
    map.add_linear(cross_to + ".out_proj", cross_from + "/linear_2");
  }
  map.add_norm(to + ".final_layer_norm", from + "/ffn/layer_norm");
  map.add_linear(to + ".fc1", from + "/ffn/linear_0");
  map.add_linear(to + ".fc2", from + "/ffn/linear_1");
}

void add_network(TensorMap& map, const Ctranslate2File& model, const ModelConfig& config) {
  map.add_linear("encoder.conv1", "encoder/conv1");
  map.add_linear("encoder.conv2", "encoder/conv2");
  map.add("encoder.embed_positions.weight", "encoder/position_encodings/encodings");
  for (int i = 0; i < config.encoder_layers; ++i)
    add_layer(map, fmt::format("encoder.layers.{}", i), fmt::format("encoder/layer_{}", i), false);
  map.add_norm("encoder.layer_norm", "encoder/layer_norm");
  map.add(kEmbedding, "decoder/embeddings/weight");
  map.add("decoder.embed_positions.weight", "decoder/position_encodings/encodings");
  for (int i = 0; i < config.decoder_layers; ++i)
    add_layer(map, fmt::format("decoder.layers.{}", i), fmt::format("decoder/layer_{}", i), true);
  map.add_norm("decoder.layer_norm", "decoder/layer_norm");
  constexpr const char* kProjection = "decoder/projection/weight";
  if (map.has(kProjection) && model.find(kProjection) != model.find("decoder/embeddings/weight"))
    map.add(kOutputMatrix, kProjection);
}

GenerationConfig read_generation(const std::string& text, const ModelConfig& config,
                                 const std::string& name) {
  GenerationConfig generation;
  if (text.empty()) return generation;
  const Json ours = parse_json_object(text, name);
  Json hugging_face = Json::object();  // the same facts under the names that their reader knows
  constexpr std::pair<const char*, const char*> kNames[] = {{"suppress_ids", "suppress_tokens"},
                                                            {"suppress_ids_begin", "begin_suppress_tokens"},
                                                            {"alignment_heads", "alignment_heads"}};
  for (const auto& [from, to] : kNames)
    if (const Json* value = find_member(ours, from)) hugging_face[to] = *value;
  read_generation_json(hugging_face, config, name, generation);
  return generation;
}

std::vector<std::string> listed_tokens(const Ctranslate2Texts& texts, const std::string& folder) {
  std::vector<std::string> tokens;
  if (!texts.vocabulary_json.empty()) {
    const std::string name = folder + "/vocabulary.json";
    const Json list = parse_json(texts.vocabulary_json, name);
    if (!list.is_array()) throw Error(ErrorCode::bad_model, "{}: should hold a list of tokens", name);
    for (const Json& token : list) tokens.push_back(string_value(token, "a token", name));
    return tokens;
  }
  std::string_view text = texts.vocabulary_txt;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    tokens.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return tokens;
}

// A list of tokens by id; from <|endoftext|> on they are special.
Vocabulary vocabulary_from_list(const std::vector<std::string>& list, const std::string& folder, int size) {
  if (list.size() > static_cast<size_t>(size))
    throw Error(ErrorCode::bad_model, "{}: the vocabulary has {} tokens but the network {}", folder,
                list.size(), size);
  Vocabulary vocabulary;
  bool special = false;
  for (const std::string& token : list) {
    special = special || token == "<|endoftext|>";
    vocabulary.tokens.push_back(special ? token : bytes_from_byte_level(token, folder + "/vocabulary"));
    vocabulary.special.push_back(special);
  }
  vocabulary.tokens.resize(static_cast<size_t>(size));
  vocabulary.special.resize(static_cast<size_t>(size), true);
  return vocabulary;
}

Vocabulary read_vocabulary(const Ctranslate2Texts& texts, const std::string& folder, int size) {
  Vocabulary vocabulary;
  if (!texts.tokenizer_json.empty())
    vocabulary = vocabulary_from_tokenizer_json(texts.tokenizer_json, folder + "/tokenizer.json", size);
  else if (!texts.vocabulary_json.empty() || !texts.vocabulary_txt.empty())
    vocabulary = vocabulary_from_list(listed_tokens(texts, folder), folder, size);
  else
    throw Error(ErrorCode::bad_model,
                "{}: none of tokenizer.json, vocabulary.json and vocabulary.txt is here", folder);
  name_missing_special_tokens(vocabulary);
  return vocabulary;
}

std::string text_of(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? std::string(as_text(map_file(path)->bytes())) : std::string();
}

}  // namespace

Checkpoint read_ctranslate2(const NamedBytes& file, const std::string& folder,
                            const Ctranslate2Texts& texts) {
  const Ctranslate2File model = parse_ctranslate2_file(file);
  TensorMap map(file, model);
  Checkpoint checkpoint;
  checkpoint.source = folder;
  checkpoint.format = "ctranslate2";
  checkpoint.config = read_config(map);
  if (map.has("decoder/scale_embeddings") && map.scalar("decoder/scale_embeddings") != 0)
    throw Error(ErrorCode::unsupported, "{}: the embeddings are to be scaled, which Whisper does not do",
                file.name);
  add_network(map, model, checkpoint.config);
  map.require_all_used();
  checkpoint.tensors = map.take();
  checkpoint.generation = read_generation(texts.config_json, checkpoint.config, folder + "/config.json");
  check_weights(checkpoint);  // before memory is spent on as many tokens as the file claims
  checkpoint.vocabulary = read_vocabulary(texts, folder, checkpoint.config.vocabulary);
  check_checkpoint(checkpoint);
  return checkpoint;
}

Checkpoint read_ctranslate2_folder(const std::filesystem::path& folder) {
  const std::filesystem::path model = folder / "model.bin";
  const Ctranslate2Texts texts{text_of(folder / "config.json"), text_of(folder / "tokenizer.json"),
                               text_of(folder / "vocabulary.json"), text_of(folder / "vocabulary.txt")};
  return read_ctranslate2({model.string(), map_file(model)}, folder.string(), texts);
}

}  // namespace sotto
