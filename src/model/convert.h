#pragma once

#include <filesystem>

#include "model/checkpoint.h"

namespace sotto {

// Writes a checkpoint as one self-describing safetensors file: weights of the given type (f32, f16 or bf16),
// the JSON files in its metadata. Written beside the target and renamed, so that an interrupted run leaves no
// half file.
void write_safetensors(const Checkpoint& checkpoint, const std::filesystem::path& to, DType type);

// What a model is, as JSON for `sotto model info`: sizes, languages, format, tensor types, parameters.
std::string describe_checkpoint(const Checkpoint& checkpoint);

// A short name for these very weights, for records: a hash over the sizes, and over each tensor's name, shape
// and the bytes at its beginning, middle and end (a model of gigabytes is not read through for it).
std::string checkpoint_hash(const Checkpoint& checkpoint);

}  // namespace sotto
