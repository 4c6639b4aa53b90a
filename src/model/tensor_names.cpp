#include "model/tensor_names.h"

namespace sotto {
namespace {

class SpecList {
 public:
  void add(std::string name, Shape shape) { specs_.push_back({std::move(name), std::move(shape)}); }

  void add_with_bias(const std::string& name, Shape shape) {
    const int64_t outputs = shape.front();
    add(name + ".weight", std::move(shape));
    add(name + ".bias", {outputs});
  }

  void add_norm(const std::string& name, int64_t width) { add_with_bias(name, {width}); }

  void add_attention(const std::string& name, int64_t width) {
    add_with_bias(name + ".q_proj", {width, width});
    add(name + ".k_proj.weight", {width, width});  // a key bias would cancel in the softmax
    add_with_bias(name + ".v_proj", {width, width});
    add_with_bias(name + ".out_proj", {width, width});
  }

  void add_layer(const std::string& name, int64_t width, int64_t ffn, bool reads_encoder) {
    add_norm(name + ".self_attn_layer_norm", width);
    add_attention(name + ".self_attn", width);
    if (reads_encoder) {
      add_norm(name + ".encoder_attn_layer_norm", width);
      add_attention(name + ".encoder_attn", width);
    }
    add_norm(name + ".final_layer_norm", width);
    add_with_bias(name + ".fc1", {ffn, width});
    add_with_bias(name + ".fc2", {width, ffn});
  }

  std::vector<TensorSpec> take() { return std::move(specs_); }

 private:
  std::vector<TensorSpec> specs_;
};

}  // namespace

std::vector<TensorSpec> expected_tensors(const ModelConfig& config) {
  const int64_t width = config.width;
  SpecList list;
  list.add_with_bias("encoder.conv1", {width, config.mel_bins, 3});
  list.add_with_bias("encoder.conv2", {width, width, 3});
  list.add("encoder.embed_positions.weight", {config.audio_positions, width});
  for (int layer = 0; layer < config.encoder_layers; ++layer)
    list.add_layer("encoder.layers." + std::to_string(layer), width, config.encoder_ffn, false);
  list.add_norm("encoder.layer_norm", width);
  list.add(kEmbedding, {config.vocabulary, width});
  list.add("decoder.embed_positions.weight", {config.text_positions, width});
  for (int layer = 0; layer < config.decoder_layers; ++layer)
    list.add_layer("decoder.layers." + std::to_string(layer), width, config.decoder_ffn, true);
  list.add_norm("decoder.layer_norm", width);
  return list.take();
}

}  // namespace sotto
