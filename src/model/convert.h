#pragma once

#include <filesystem>

#include "model/checkpoint.h"

namespace sotto {

// Writes a checkpoint as one self-describing safetensors file: weights of the given type (f32, f16 or bf16), the JSON
// files in its metadata. Written beside the target and renamed, so that an interrupted run leaves no half file.
void write_safetensors(const Checkpoint& checkpoint, const std::filesystem::path& to, DType type);

// What a model is, as JSON for `sotto model info`: sizes, languages, format, tensor types, parameters.
std::string describe_checkpoint(const Checkpoint& checkpoint);

}  // namespace sotto
