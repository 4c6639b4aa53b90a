#include "support/ggml_writer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "support/openai_tensor_names.h"

namespace sotto::test {
namespace {

constexpr size_t kBlock = 32;

bool has_minimum(DType type) {
  return type == DType::q4_1 || type == DType::q5_1;
}
int bits_of(DType type) {
  if (type == DType::q8_0) return 8;
  return type == DType::q5_0 || type == DType::q5_1 ? 5 : 4;
}

// Scale, minimum (the _1 types), fifth bits (q5), then the low four bits of value i with those of value i
// + 16.
void put_block(ByteWriter& out, std::span<const float> values, DType type) {
  const int steps = (1 << bits_of(type)) - 1;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const float largest = std::max(std::fabs(*low), std::fabs(*high));
  const int zero = has_minimum(type) || type == DType::q8_0 ? 0 : (steps + 1) / 2;
  float scale = largest / static_cast<float>(steps / 2), minimum = 0;
  if (has_minimum(type)) {
    scale = (*high - *low) / static_cast<float>(steps);
    minimum = *low;
  }
  const uint16_t stored_scale = float_to_half(scale);
  out.put(stored_scale);
  if (has_minimum(type)) out.put(float_to_half(minimum));
  scale = half_to_float(stored_scale);
  minimum = half_to_float(float_to_half(minimum));

  std::array<int, kBlock> quantised{};
  const int lowest = type == DType::q8_0 ? -127 : 0, highest = type == DType::q8_0 ? 127 : steps;
  for (size_t i = 0; i < kBlock; ++i) {
    const float exact = scale == 0 ? 0 : (values[i] - minimum) / scale;
    quantised[i] = std::clamp(static_cast<int>(std::lround(exact)) + zero, lowest, highest);
  }
  if (type == DType::q8_0) {
    for (const int q : quantised) out.put(static_cast<int8_t>(q));
    return;
  }
  uint32_t fifth_bits = 0;
  for (size_t i = 0; i < kBlock; ++i) fifth_bits |= static_cast<uint32_t>(quantised[i] >> 4) << i;
  if (bits_of(type) == 5) out.put(fifth_bits);
  for (size_t i = 0; i < kBlock / 2; ++i)
    out.put(static_cast<uint8_t>((quantised[i] & 15) | (quantised[i + kBlock / 2] & 15) << 4));
}

std::vector<std::byte> encode(const std::vector<float>& values, DType type) {
  if (dtype_block_values(type) > 1) return quantise_ggml(values, type);
  ByteWriter out;
  for (const float value : values) {
    if (type == DType::f16)
      out.put(float_to_half(value));
    else
      out.put(value);
  }
  return out.take().bytes;
}

// whisper.cpp keeps biases, norms and positions in float32, and convolutions in float16 at the least.
DType type_of(const std::string& name, const TensorView& tensor, DType type) {
  if (tensor.shape.size() == 1 || name.find("embed_positions") != std::string::npos) return DType::f32;
  if (dtype_block_values(type) > 1 && tensor.shape.size() != 2) return DType::f16;
  return type;
}

void put_tensor(ByteWriter& out, const std::string& name, const TensorView& tensor, DType type) {
  Shape shape = tensor.shape;
  if (name == "encoder.conv1.bias" || name == "encoder.conv2.bias") shape.push_back(1);
  const std::string ggml_name = openai_name(name);
  out.put(static_cast<int32_t>(shape.size()));
  out.put(static_cast<int32_t>(ggml_name.size()));
  out.put(ggml_type_id(type));
  for (size_t i = shape.size(); i-- > 0;) out.put(static_cast<int32_t>(shape[i]));
  out.put_text(ggml_name);
  out.put_bytes(encode(read_all(tensor), type));
}

void put_tokens(ByteWriter& out, const Vocabulary& vocabulary, ListedTokens listed) {
  const auto first_special = std::find(vocabulary.special.begin(), vocabulary.special.end(), true);
  auto count = static_cast<size_t>(first_special - vocabulary.special.begin());
  if (listed == ListedTokens::ordinary_and_end) ++count;
  if (listed == ListedTokens::all) count = vocabulary.tokens.size();
  out.put(static_cast<int32_t>(count));
  for (size_t i = 0; i < count; ++i) {
    out.put(static_cast<uint32_t>(vocabulary.tokens[i].size()));
    out.put_text(vocabulary.tokens[i]);
  }
}

}  // namespace

int32_t ggml_type_id(DType type) {
  switch (type) {
    case DType::f16:
      return 1;
    case DType::q4_0:
      return 2;
    case DType::q4_1:
      return 3;
    case DType::q5_0:
      return 6;
    case DType::q5_1:
      return 7;
    case DType::q8_0:
      return 8;
    default:
      return 0;
  }
}

float ggml_quantisation_error(DType type, float largest) {
  if (type == DType::f32) return 0;
  constexpr float kHalfError = 0x1p-10f;  // of the scale, of the minimum or of the value itself
  if (type == DType::f16) return largest * kHalfError;
  const float steps = static_cast<float>((1 << bits_of(type)) - 1);
  const float step = has_minimum(type) ? 2 * largest / steps : largest / std::floor(steps / 2);
  return step / 2 + 3 * largest * kHalfError;
}

std::vector<std::byte> quantise_ggml(const std::vector<float>& values, DType type) {
  ByteWriter out;
  for (size_t i = 0; i < values.size(); i += kBlock)
    put_block(out, std::span(values).subspan(i, kBlock), type);
  return out.take().bytes;
}

WrittenFile write_ggml(const Checkpoint& checkpoint, DType type, ListedTokens listed) {
  const ModelConfig& config = checkpoint.config;
  constexpr int32_t kMagic = 0x67676d6c, kQuantisationVersion = 2;
  ByteWriter out;
  out.put(kMagic);
  for (const int size :
       {config.vocabulary, config.audio_positions, config.width, config.encoder_heads, config.encoder_layers,
        config.text_positions, config.width, config.decoder_heads, config.decoder_layers, config.mel_bins})
    out.put(static_cast<int32_t>(size));
  out.put(ggml_type_id(type) + (dtype_block_values(type) > 1 ? 1000 * kQuantisationVersion : 0));
  constexpr int32_t kFilterBins = 201;
  out.put(static_cast<int32_t>(config.mel_bins));
  out.put(kFilterBins);
  out.put_bytes(std::vector<std::byte>(static_cast<size_t>(config.mel_bins * kFilterBins) * sizeof(float)));
  put_tokens(out, checkpoint.vocabulary, listed);
  for (const auto& [name, tensor] : checkpoint.tensors)
    put_tensor(out, name, tensor, type_of(name, tensor, type));
  return out.take();
}

}  // namespace sotto::test
