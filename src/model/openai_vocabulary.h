#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "model/checkpoint.h"

namespace sotto {

// OpenAI's own form of a vocabulary: one "base64-of-the-token rank" per line, the rank being the token's id.
// The special tokens that follow are implied. `size` is the model's vocabulary size.
Vocabulary vocabulary_from_tiktoken(std::string_view text, std::string_view name, int size);

// OpenAI's checkpoints have no vocabulary: it is looked for beside the file, as tokenizer.json, vocab.json
// with merges.txt, or multilingual.tiktoken / gpt2.tiktoken (also in ../assets, where OpenAI's package keeps
// them). Throws Error(bad_model) that says what to place there when there is none; `file` names the
// checkpoint.
Vocabulary find_openai_vocabulary(const std::filesystem::path& folder, std::string_view file, int size);

}  // namespace sotto
