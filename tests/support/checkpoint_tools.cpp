#include "support/checkpoint_tools.h"

#include <cmath>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include "base/error.h"
#include "model/tensor_names.h"
#include "tensor/float_convert.h"

namespace sotto::test {
namespace {

using ::testing::AssertionFailure;
using ::testing::AssertionResult;
using ::testing::AssertionSuccess;

AssertionResult same_tensor(const std::string& name, const TensorView& left, const TensorView& right,
                            const Tolerance& tolerance) {
  if (left.shape != right.shape)
    return AssertionFailure() << name << ": shapes " << shape_text(left.shape) << " and "
                              << shape_text(right.shape);
  const std::vector<float> a = read_all(left), b = read_all(right);
  for (size_t i = 0; i < a.size(); ++i) {
    const bool within = a[i] == b[i] || std::fabs(a[i] - b[i]) <= tolerance(name, a[i]);
    if (!within && !(std::isnan(a[i]) && std::isnan(b[i])))
      return AssertionFailure() << name << ", value " << i << ": " << a[i] << " and " << b[i];
  }
  return AssertionSuccess();
}

// Where the norm gains are near 1 and everything else is small, as in a trained network: activations stay
// finite.
std::vector<float> random_values(const TensorSpec& spec, std::mt19937& random) {
  const bool norm = spec.name.find("layer_norm") != std::string::npos;
  const bool gain = norm && spec.name.ends_with(".weight");
  const auto row = spec.shape.size() < 2 ? 1 : shape_elements(spec.shape) / spec.shape.front();
  const float spread = spec.shape.size() < 2 ? 0.05f : 0.6f / std::sqrt(static_cast<float>(row));
  std::vector<float> values(static_cast<size_t>(shape_elements(spec.shape)));
  // The standard's distributions differ between libraries; the generator itself does not.
  for (float& value : values)
    value = (gain ? 1.0f : 0.0f) + spread * (static_cast<float>(random() >> 8) * 0x1p-23f - 1.0f) * 1.7f;
  return values;
}

}  // namespace

ModelConfig small_config() {
  ModelConfig config;
  config.mel_bins = 80;
  config.audio_positions = 1500;
  config.text_positions = 448;
  config.width = 64;
  config.vocabulary = static_cast<int>(small_vocabulary().tokens.size());
  config.encoder_layers = 2;
  config.encoder_heads = 1;
  config.encoder_ffn = 96;
  config.decoder_layers = 3;
  config.decoder_heads = 1;
  config.decoder_ffn = 160;
  return config;
}

Vocabulary small_vocabulary() {
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) vocabulary.tokens.emplace_back(1, static_cast<char>(byte));
  vocabulary.merges = {{" ", "t"}, {"h", "e"}, {" t", "he"}, {"i", "n"}, {"\xc3", "\xa4"}};
  for (const auto& [left, right] : vocabulary.merges) vocabulary.tokens.push_back(left + right);
  vocabulary.special.assign(vocabulary.tokens.size(), false);
  for (const char* name :
       {"<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>", "<|transcribe|>",
        "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"})
    vocabulary.tokens.emplace_back(name);
  for (int step = 0; step <= 1500; ++step)
    vocabulary.tokens.push_back(fmt::format("<|{}.{:02}|>", step / 50, step % 50 * 2));
  vocabulary.special.resize(vocabulary.tokens.size(), true);
  return vocabulary;
}

TensorView make_tensor(Shape shape, const std::vector<float>& values, DType type) {
  std::vector<std::byte> bytes(tensor_bytes(type, shape));
  if (type == DType::f16)
    floats_to_halves(values.data(), values.size(), bytes.data());
  else if (type == DType::bf16)
    floats_to_bfloats(values.data(), values.size(), bytes.data());
  else
    std::memcpy(bytes.data(), values.data(), bytes.size());
  TensorView tensor;
  tensor.dtype = type;
  tensor.shape = std::move(shape);
  tensor.owner = memory_region(std::move(bytes));
  tensor.data = tensor.owner->bytes();
  return tensor;
}

Checkpoint make_random_checkpoint(const ModelConfig& config, uint32_t seed) {
  Checkpoint checkpoint;
  checkpoint.source = "random weights";
  checkpoint.format = "safetensors";
  checkpoint.config = config;
  checkpoint.vocabulary = small_vocabulary();
  checkpoint.vocabulary.tokens.resize(config.vocabulary);
  checkpoint.vocabulary.special.resize(config.vocabulary, true);
  checkpoint.generation.suppress_tokens = {1, 2};
  checkpoint.generation.begin_suppress_tokens = {32};
  checkpoint.generation.max_initial_timestamp_index = 50;
  checkpoint.generation.alignment_heads = {{0, 0}, {config.decoder_layers - 1, config.decoder_heads - 1}};
  std::mt19937 random(seed);
  for (TensorSpec& spec : expected_tensors(config)) {
    std::vector<float> values = random_values(spec, random);
    checkpoint.tensors.emplace(spec.name, make_tensor(spec.shape, values));
  }
  return checkpoint;
}

Checkpoint with_type(const Checkpoint& checkpoint, DType type) {
  Checkpoint converted = checkpoint;
  for (auto& [name, tensor] : converted.tensors) tensor = make_tensor(tensor.shape, read_all(tensor), type);
  return converted;
}

AssertionResult same_checkpoint(const Checkpoint& left, const Checkpoint& right, const Tolerance& tolerance) {
  if (left.config != right.config) return AssertionFailure() << "the configurations differ";
  if (left.generation != right.generation) return AssertionFailure() << "the generation settings differ";
  if (left.vocabulary.tokens != right.vocabulary.tokens) return AssertionFailure() << "the tokens differ";
  if (left.vocabulary.special != right.vocabulary.special)
    return AssertionFailure() << "the special tokens differ";
  if (left.vocabulary.merges != right.vocabulary.merges) return AssertionFailure() << "the merges differ";
  for (const auto& [name, tensor] : left.tensors) {
    const auto other = right.tensors.find(name);
    if (other == right.tensors.end()) return AssertionFailure() << name << " is only in the first";
    if (AssertionResult same = same_tensor(name, tensor, other->second, tolerance); !same) return same;
  }
  for (const auto& [name, tensor] : right.tensors)
    if (!left.tensors.contains(name)) return AssertionFailure() << name << " is only in the second";
  return AssertionSuccess();
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "an Error was expected";
  return {};
}

}  // namespace sotto::test
