#pragma once

#include <filesystem>
#include <string>

#include "model/checkpoint.h"
#include "support/byte_writer.h"

namespace sotto::test {

// A checkpoint as CTranslate2's model.bin. With i8 every matrix is quantised by rows and the rest is float32.
WrittenFile write_ctranslate2_model(const Checkpoint& checkpoint, DType type);

std::string ctranslate2_config_json(const GenerationConfig& generation);

enum class Ctranslate2Vocabulary { tokenizer_json, vocabulary_json, vocabulary_txt };

std::string ctranslate2_vocabulary_text(const Vocabulary& vocabulary, Ctranslate2Vocabulary form);

void write_ctranslate2_folder(const std::filesystem::path& folder, const Checkpoint& checkpoint, DType type,
                              Ctranslate2Vocabulary form);

}  // namespace sotto::test
