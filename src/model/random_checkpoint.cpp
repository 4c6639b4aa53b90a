#include "model/random_checkpoint.h"

#include <algorithm>
#include <array>
#include <memory>
#include <random>

#include "model/tensor_names.h"
#include "tensor/dtype.h"

namespace sotto {
namespace {

constexpr ModelConfig official(int width, int layers, int vocabulary, int mel_bins = 80,
                               int decoder_layers = 0) {
  const int heads = width / 64;
  return {mel_bins, 1500,       448,
          width,    vocabulary, layers,
          heads,    4 * width,  decoder_layers > 0 ? decoder_layers : layers,
          heads,    4 * width};
}

constexpr NamedShape kShapes[] = {
    {"tiny", official(384, 4, 51865)},           {"base", official(512, 6, 51865)},
    {"small", official(768, 12, 51865)},         {"medium", official(1024, 24, 51865)},
    {"large-v2", official(1280, 32, 51865)},     {"large-v3", official(1280, 32, 51866, 128)},
    {"turbo", official(1280, 32, 51866, 128, 4)}};

class Values final : public Region {
 public:
  explicit Values(std::vector<uint16_t> values) : values_(std::move(values)) {}
  std::span<const std::byte> bytes() const noexcept override { return std::as_bytes(std::span(values_)); }

 private:
  std::vector<uint16_t> values_;
};

std::shared_ptr<Values> random_values(size_t count) {
  std::minstd_rand random(1);
  std::array<uint16_t, 4096> block;
  for (uint16_t& value : block)
    value = float_to_half((static_cast<float>(random() % 2001) - 1000.0f) * 3e-5f);
  std::vector<uint16_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = block[i % block.size()];
  return std::make_shared<Values>(std::move(values));
}

}  // namespace

std::span<const NamedShape> named_shapes() noexcept {
  return kShapes;
}

Checkpoint random_checkpoint(const ModelConfig& config) {
  const auto specs = expected_tensors(config);
  size_t largest = 0;
  for (const auto& spec : specs) largest = std::max(largest, static_cast<size_t>(shape_elements(spec.shape)));
  const auto weights = random_values(largest);
  const auto ones =
      std::make_shared<Values>(std::vector<uint16_t>(static_cast<size_t>(config.width), float_to_half(1)));
  Checkpoint checkpoint;
  checkpoint.source = "random weights";
  checkpoint.config = config;
  for (const auto& spec : specs) {
    const auto& data = spec.name.ends_with("layer_norm.weight") ? ones : weights;
    checkpoint.tensors[spec.name] = {
        DType::f16, spec.shape, data->bytes().first(tensor_bytes(DType::f16, spec.shape)), {}, data};
  }
  return checkpoint;
}

double encoder_operations(const ModelConfig& c) noexcept {
  const double t = c.audio_positions, d = c.width;
  const double convolutions = 2 * (2 * t) * 3 * c.mel_bins * d + 2 * t * 3 * d * d;
  const double layer = 2 * t * (4 * d * d + 2 * d * c.encoder_ffn) + 4 * t * t * d;
  const double cross_keys_and_values = 2 * t * 2 * d * d;
  return convolutions + c.encoder_layers * layer + c.decoder_layers * cross_keys_and_values;
}

}  // namespace sotto
