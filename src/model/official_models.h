#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/checkpoint.h"

namespace sotto {

// The facts of OpenAI's releases that some formats lack.
struct OfficialModel {
  std::string_view name;  // "tiny.en", "large-v3-turbo"
  int width;
  int encoder_layers, decoder_layers;
  int vocabulary;
  std::span<const std::pair<int, int>> alignment_heads;  // (decoder layer, head)
};

// The release with these sizes, or null. large-v1 and large-v2 differ in nothing but their weights: the
// file's name decides, and means v2 where it says neither.
const OfficialModel* find_official_model(const ModelConfig& config, std::string_view file_name) noexcept;

// The 100 language codes in the order of their tokens. Releases before large-v3 have the first 99.
std::span<const std::string_view> standard_language_codes() noexcept;

// Whisper's special tokens in their order, from <|endoftext|> to <|30.00|>, for a model of so many languages
// (at most 100, in the standard order).
std::vector<std::string> standard_special_tokens(int languages);
inline constexpr int kSpecialTokensBesidesLanguages = 1509;

// Formats and older tokenizer files leave special tokens without a name, most often the timestamps. Every
// nameless special token gets its standard name, counted from <|endoftext|>. Nothing changes where the
// vocabulary does not follow the standard layout.
void name_missing_special_tokens(Vocabulary& vocabulary);

}  // namespace sotto
