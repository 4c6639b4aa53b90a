#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor_view.h"

namespace sotto {

using TokenId = int32_t;

// The sizes of a Whisper network. Every one of them has been checked against the tensors.
struct ModelConfig {
  int mel_bins = 0;         // 80 or 128
  int audio_positions = 0;  // encoder frames of one window: 1500
  int text_positions = 0;   // 448
  int width = 0;            // d_model
  int vocabulary = 0;
  int encoder_layers = 0, encoder_heads = 0, encoder_ffn = 0;
  int decoder_layers = 0, decoder_heads = 0, decoder_ffn = 0;

  bool operator==(const ModelConfig&) const = default;
};

// What the tokenizer is made from, by token id.
struct Vocabulary {
  std::vector<std::string> tokens;  // raw bytes of an ordinary token; the name ("<|en|>") of a special one
  std::vector<bool> special;        // same length
  // Byte-pair merges in order of priority, as raw bytes. Empty where the format has none: then a pair's
  // priority is the id of the token it makes (which is how Whisper's vocabularies were numbered).
  std::vector<std::pair<std::string, std::string>> merges;

  bool operator==(const Vocabulary&) const = default;
};

// What the file says about decoding. Absent values mean that the format lacks them, not that they are empty.
struct GenerationConfig {
  std::optional<std::vector<TokenId>> suppress_tokens;
  std::optional<std::vector<TokenId>> begin_suppress_tokens;
  std::optional<int> max_initial_timestamp_index;
  std::vector<std::pair<int, int>> alignment_heads;  // (decoder layer, head); empty when unknown

  bool operator==(const GenerationConfig&) const = default;
};

// A model as read from any format. Tensor names are Hugging Face's, without the leading "model.":
//   encoder.conv1.weight, encoder.layers.0.self_attn.q_proj.weight, decoder.embed_tokens.weight, ...
// proj_out.weight is present only when the output matrix is not the embedding's.
struct Checkpoint {
  std::string source;  // the path, or "built-in nano"
  std::string format;  // "safetensors", "ggml", "ctranslate2", "openai"
  ModelConfig config;
  Vocabulary vocabulary;
  GenerationConfig generation;
  std::map<std::string, TensorView> tensors;
};

// Opens a file or folder in any of the supported formats. Throws Error(bad_model) or Error(io) with one
// sentence that names the file, the place in it and the reason.
Checkpoint read_checkpoint(const std::filesystem::path& path);

// The small model that is part of the program.
Checkpoint embedded_checkpoint();

}  // namespace sotto
