#pragma once

#include <filesystem>
#include <string>

#include "model/checkpoint.h"

namespace sotto::test {

// Writes a checkpoint as a Hugging Face folder: config.json, generation_config.json, tokenizer.json and its
// tensors, which must be f32, f16 or bf16, in so many files.
void write_hugging_face_folder(const Checkpoint& checkpoint, const std::filesystem::path& folder,
                               int shards = 1);

// The bytes of a safetensors file with these tensors, under Hugging Face's names ("model." in front).
std::vector<std::byte> plain_safetensors(const std::map<std::string, TensorView>& tensors);

}  // namespace sotto::test
