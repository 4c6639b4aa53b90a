#pragma once

#include <string>
#include <vector>

#include "model/checkpoint.h"

namespace sotto {

struct TensorSpec {
  std::string name;
  Shape shape;
};

// Every tensor that a network of these sizes needs, encoder first, in the order of computation. The one
// optional tensor, kOutputMatrix, is not among them.
std::vector<TensorSpec> expected_tensors(const ModelConfig& config);

inline constexpr const char* kEmbedding = "decoder.embed_tokens.weight";
inline constexpr const char* kOutputMatrix = "proj_out.weight";  // where it is not the embedding

}  // namespace sotto
