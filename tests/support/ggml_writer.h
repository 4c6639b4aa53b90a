#pragma once

#include <cstdint>

#include "model/checkpoint.h"
#include "support/byte_writer.h"

namespace sotto::test {

enum class ListedTokens { ordinary, ordinary_and_end, all };

// A checkpoint as whisper.cpp's .bin: matrices in `type` (f32, f16 or a quantised one), everything else as
// whisper.cpp's converter leaves it.
WrittenFile write_ggml(const Checkpoint& checkpoint, DType type, ListedTokens listed = ListedTokens::all);

int32_t ggml_type_id(DType type);

// The largest error of a value when its block of 32 has values up to `largest` in magnitude.
float ggml_quantisation_error(DType type, float largest);

// Rows of float32 values in ggml's block layout; rows must be whole blocks.
std::vector<std::byte> quantise_ggml(const std::vector<float>& values, DType type);

}  // namespace sotto::test
