// Writes small valid models as seeds for the fuzz targets: make_seeds FOLDER makes FOLDER/ggml/*,
// FOLDER/openai/* ...
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "model/config_json.h"
#include "model/convert.h"
#include "model/vocabulary.h"
#include "support/checkpoint_tools.h"
#include "support/ctranslate2_writer.h"
#include "support/ggml_writer.h"
#include "support/openai_writer.h"

namespace {

using namespace sotto;
using namespace sotto::test;

// Small enough that a mutation hits structure rather than weights.
ModelConfig tiny_config() {
  ModelConfig config;
  config.mel_bins = 2;
  config.audio_positions = config.text_positions = 2;
  config.width = config.encoder_ffn = config.decoder_ffn = 32;
  config.encoder_layers = config.decoder_layers = config.encoder_heads = config.decoder_heads = 1;
  config.vocabulary = 264;
  return config;
}

void write_seed(const std::filesystem::path& folder, std::string_view name, const WrittenFile& file) {
  std::filesystem::create_directories(folder);
  write_file(folder / name, file.bytes);
}

void write_seed(const std::filesystem::path& folder, std::string_view name, std::string_view text) {
  std::filesystem::create_directories(folder);
  write_file(folder / name, text);
}

// The JSON files of a folder, each behind the letter by which the fuzz target knows it.
void write_json_seeds(const Checkpoint& checkpoint, const std::filesystem::path& folder) {
  write_seed(folder, "config", "c" + config_json_text(checkpoint));
  write_seed(folder, "generation", "g" + generation_json_text(checkpoint));
  write_seed(folder, "preprocessor", "p" + preprocessor_json_text(checkpoint.config));
  write_seed(folder, "tokenizer", "t" + tokenizer_json_from_vocabulary(checkpoint.vocabulary, "a seed"));
  write_seed(folder, "vocab", "v{\"a\":0,\"b\":1}\n---\n#version: 0.2\na b\n\n---\n{\"<|en|>\":2}");
}

void write_seeds(const std::filesystem::path& folder) {
  const Checkpoint checkpoint = make_random_checkpoint(tiny_config(), 1);
  write_json_seeds(checkpoint, folder / "hugging_face_json");
  std::filesystem::create_directories(folder / "safetensors");
  for (const DType type : {DType::f32, DType::f16, DType::bf16})
    write_safetensors(checkpoint, folder / "safetensors" / dtype_name(type), type);
  for (const DType type :
       {DType::f32, DType::f16, DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0})
    write_seed(folder / "ggml", dtype_name(type), write_ggml(checkpoint, type));
  write_seed(folder / "ggml", "implied", write_ggml(checkpoint, DType::q4_0, ListedTokens::ordinary));
  for (const DType type : {DType::f32, DType::f16, DType::i8})
    write_seed(folder / "ctranslate2", dtype_name(type), write_ctranslate2_model(checkpoint, type));
  const std::string tokenizer = tokenizer_json_from_vocabulary(checkpoint.vocabulary, "a seed");
  write_seed(folder / "openai", "complete", write_openai(checkpoint, {DType::f16, tokenizer}));
  write_seed(folder / "openai", "without_tokenizer", write_openai(checkpoint, {DType::f32, ""}));
  const PickledTensor tensor = contiguous_tensor("encoder.conv1.bias", DType::f16, {2, 3}, "0");
  write_seed(folder / "pickle", "tensor", write_openai_pickle(tiny_config(), {tensor}, "{}"));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  try {
    write_seeds(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
