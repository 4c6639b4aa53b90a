#pragma once

#include <span>
#include <string_view>

#include "model/checkpoint.h"

namespace sotto {

// The shapes of the official releases, by the names that people use: "tiny", "large-v3", "turbo".
struct NamedShape {
  std::string_view name;
  ModelConfig config;
};
std::span<const NamedShape> named_shapes() noexcept;

// A model of this shape with random float16 weights of about the size that real ones have, for measurements.
// All tensors read the same block of memory: speed does not depend on the values, and a block is quicker to
// make than a model. It has no vocabulary.
Checkpoint random_checkpoint(const ModelConfig& config);

// Multiplications and additions that encoding one window takes, up to the decoder's keys and values.
double encoder_operations(const ModelConfig& config) noexcept;

}  // namespace sotto
