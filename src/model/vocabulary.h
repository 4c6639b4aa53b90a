#pragma once

#include <string>
#include <string_view>

#include "model/checkpoint.h"

namespace sotto {

// GPT-2's printable spelling of bytes ("Ġ" for a space) back to the bytes. Throws Error(bad_model) for a
// character that stands for no byte; `where` names the file and entry.
std::string bytes_from_byte_level(std::string_view spelled, std::string_view where);
std::string byte_level_from_bytes(std::string_view bytes);

// From the files that Hugging Face folders (and CTranslate2's) carry; `name` is the file, for messages.
// `size` is the model's vocabulary size: ids beyond it are an error, missing ids become empty special tokens.
Vocabulary vocabulary_from_tokenizer_json(std::string_view json, std::string_view name, int size);
Vocabulary vocabulary_from_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                            std::string_view added_tokens_json, std::string_view name,
                                            int size);

// The text of a tokenizer.json that reads back to the same vocabulary; `source` is the model, for messages.
std::string tokenizer_json_from_vocabulary(const Vocabulary& vocabulary, std::string_view source);

}  // namespace sotto
