#include "support/ctranslate2_writer.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/vocabulary.h"
#include "support/temporary_folder.h"

namespace sotto::test {
namespace {

struct Variable {
  Shape shape;
  uint8_t type;
  std::vector<std::byte> data;
};

constexpr uint8_t kFloat32 = 0, kInt8 = 1, kInt16 = 2, kFloat16 = 4;

class ModelWriter {
 public:
  ModelWriter(const Checkpoint& checkpoint, DType type) : checkpoint_(checkpoint), type_(type) {}

  WrittenFile write() {
    add_scalar("encoder/num_heads", kInt16, checkpoint_.config.encoder_heads);
    add_scalar("decoder/num_heads", kInt16, checkpoint_.config.decoder_heads);
    add_scalar("decoder/scale_embeddings", kInt8, 0);
    add_scalar("decoder/pre_norm", kInt8, 1);
    for (const char* conv : {"conv1", "conv2"})
      add_linear(fmt::format("encoder/{}", conv), fmt::format("encoder.{}", conv));
    for (const char* half : {"encoder", "decoder"}) {
      const std::string from = half, to = half;
      add_vector(to + "/position_encodings/encodings", values(from + ".embed_positions.weight"),
                 shape(from + ".embed_positions.weight"));
      add_norm(to + "/layer_norm", from + ".layer_norm");
    }
    add_matrix("decoder/embeddings/weight", values("decoder.embed_tokens.weight"),
               shape("decoder.embed_tokens.weight"));
    for (int i = 0; i < checkpoint_.config.encoder_layers; ++i) add_layer("encoder", i, false);
    for (int i = 0; i < checkpoint_.config.decoder_layers; ++i) add_layer("decoder", i, true);
    const bool tied = !checkpoint_.tensors.contains("proj_out.weight");
    if (!tied) add_matrix("decoder/projection/weight", values("proj_out.weight"), shape("proj_out.weight"));
    return serialise(tied);
  }

 private:
  std::vector<float> values(const std::string& name) const { return read_all(checkpoint_.tensors.at(name)); }
  Shape shape(const std::string& name) const { return checkpoint_.tensors.at(name).shape; }

  void add_scalar(const std::string& name, uint8_t type, int value) {
    ByteWriter out;
    if (type == kInt8)
      out.put(static_cast<int8_t>(value));
    else
      out.put(static_cast<int16_t>(value));
    variables_[name] = {{}, type, out.take().bytes};
  }

  void add_vector(const std::string& name, const std::vector<float>& numbers, Shape dimensions) {
    ByteWriter out;
    for (const float value : numbers) {
      if (type_ == DType::f16)
        out.put(float_to_half(value));
      else
        out.put(value);
    }
    variables_[name] = {std::move(dimensions), type_ == DType::f16 ? kFloat16 : kFloat32, out.take().bytes};
  }

  void add_matrix(const std::string& name, const std::vector<float>& numbers, const Shape& dimensions) {
    if (type_ != DType::i8) return add_vector(name, numbers, dimensions);
    const auto rows = static_cast<size_t>(dimensions.front());
    const size_t columns = numbers.size() / rows;
    ByteWriter out, scales;
    for (size_t row = 0; row < rows; ++row) {
      const auto part = std::span(numbers).subspan(row * columns, columns);
      float largest = 0;
      for (const float value : part) largest = std::max(largest, std::fabs(value));
      const float scale = 127.0f / (largest == 0 ? 127.0f : largest);
      scales.put(scale);
      for (const float value : part) out.put(static_cast<int8_t>(std::nearbyint(value * scale)));
    }
    variables_[name] = {dimensions, kInt8, out.take().bytes};
    variables_[name + "_scale"] = {{dimensions.front()}, kFloat32, scales.take().bytes};
  }

  void add_linear(const std::string& to, const std::string& from) { add_fused(to, {from}); }

  // The layers' rows under one another; a missing bias becomes zeros.
  void add_fused(const std::string& to, const std::vector<std::string>& from) {
    std::vector<float> weight, bias;
    Shape whole = shape(from.front() + ".weight");
    for (const std::string& layer : from) {
      const auto rows = values(layer + ".weight");
      weight.insert(weight.end(), rows.begin(), rows.end());
      const auto length = static_cast<size_t>(shape(layer + ".weight").front());
      const bool has_bias = checkpoint_.tensors.contains(layer + ".bias");
      const auto numbers = has_bias ? values(layer + ".bias") : std::vector<float>(length, 0.0f);
      bias.insert(bias.end(), numbers.begin(), numbers.end());
    }
    whole.front() = static_cast<int64_t>(bias.size());
    add_matrix(to + "/weight", weight, whole);
    add_vector(to + "/bias", bias, {whole.front()});
  }

  void add_norm(const std::string& to, const std::string& from) {
    add_vector(to + "/gamma", values(from + ".weight"), shape(from + ".weight"));
    add_vector(to + "/beta", values(from + ".bias"), shape(from + ".bias"));
  }

  void add_layer(const std::string& half, int index, bool reads_encoder) {
    const std::string to = fmt::format("{}/layer_{}", half, index),
                      from = fmt::format("{}.layers.{}", half, index);
    const std::string self = from + ".self_attn", cross = from + ".encoder_attn";
    add_norm(to + "/self_attention/layer_norm", self + "_layer_norm");
    add_fused(to + "/self_attention/linear_0", {self + ".q_proj", self + ".k_proj", self + ".v_proj"});
    add_linear(to + "/self_attention/linear_1", self + ".out_proj");
    if (reads_encoder) {
      add_norm(to + "/attention/layer_norm", cross + "_layer_norm");
      add_linear(to + "/attention/linear_0", cross + ".q_proj");
      add_fused(to + "/attention/linear_1", {cross + ".k_proj", cross + ".v_proj"});
      add_linear(to + "/attention/linear_2", cross + ".out_proj");
    }
    add_norm(to + "/ffn/layer_norm", from + ".final_layer_norm");
    add_linear(to + "/ffn/linear_0", from + ".fc1");
    add_linear(to + "/ffn/linear_1", from + ".fc2");
  }

  static void put_string(ByteWriter& out, const std::string& text) {
    out.put(static_cast<uint16_t>(text.size() + 1));
    out.put_text({text.c_str(), text.size() + 1});
  }

  WrittenFile serialise(bool tied) const {
    constexpr uint32_t kBinaryVersion = 6, kRevision = 3;
    ByteWriter out;
    out.put(kBinaryVersion);
    put_string(out, "WhisperSpec");
    out.put(kRevision);
    out.put(static_cast<uint32_t>(variables_.size()));
    for (const auto& [name, variable] : variables_) {
      put_string(out, name);
      out.put(static_cast<uint8_t>(variable.shape.size()));
      for (const int64_t size : variable.shape) out.put(static_cast<uint32_t>(size));
      out.put(variable.type);
      out.put(static_cast<uint32_t>(variable.data.size()));
      out.put_bytes(variable.data);
    }
    out.put(static_cast<uint32_t>(tied ? 1 : 0));
    if (tied) {
      put_string(out, "decoder/projection/weight");
      put_string(out, "decoder/embeddings/weight");
    }
    return out.take();
  }

  const Checkpoint& checkpoint_;
  DType type_;
  std::map<std::string, Variable> variables_;
};

}  // namespace

WrittenFile write_ctranslate2_model(const Checkpoint& checkpoint, DType type) {
  return ModelWriter(checkpoint, type).write();
}

std::string ctranslate2_config_json(const GenerationConfig& generation) {
  nlohmann::json config = {{"alignment_heads", generation.alignment_heads}};
  if (generation.suppress_tokens) config["suppress_ids"] = *generation.suppress_tokens;
  if (generation.begin_suppress_tokens) config["suppress_ids_begin"] = *generation.begin_suppress_tokens;
  return config.dump(2);
}

std::string ctranslate2_vocabulary_text(const Vocabulary& vocabulary, Ctranslate2Vocabulary form) {
  if (form == Ctranslate2Vocabulary::tokenizer_json)
    return tokenizer_json_from_vocabulary(vocabulary, "a test");
  nlohmann::json list = nlohmann::json::array();
  std::string lines;
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i) {
    const std::string& token = vocabulary.tokens[i];
    list.push_back(vocabulary.special[i] ? token : byte_level_from_bytes(token));
    lines += list.back().get<std::string>() + "\n";
  }
  return form == Ctranslate2Vocabulary::vocabulary_json ? list.dump(2) : lines;
}

void write_ctranslate2_folder(const std::filesystem::path& folder, const Checkpoint& checkpoint, DType type,
                              Ctranslate2Vocabulary form) {
  const char* vocabulary = form == Ctranslate2Vocabulary::tokenizer_json    ? "tokenizer.json"
                           : form == Ctranslate2Vocabulary::vocabulary_json ? "vocabulary.json"
                                                                            : "vocabulary.txt";
  write_file(folder / "model.bin", write_ctranslate2_model(checkpoint, type).bytes);
  write_file(folder / "config.json", ctranslate2_config_json(checkpoint.generation));
  write_file(folder / vocabulary, ctranslate2_vocabulary_text(checkpoint.vocabulary, form));
}

}  // namespace sotto::test
