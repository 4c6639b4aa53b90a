#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "model/checkpoint.h"
#include "support/temporary_folder.h"

namespace sotto::test {

// A very small network; sizes that are easily confused differ.
ModelConfig small_config();

// 256 single-byte tokens, a few pairs with their merges, Whisper's special tokens (en, de), 1501 timestamps.
Vocabulary small_vocabulary();

// Random float32 weights of realistic sizes in memory that the tensors own. The vocabulary is
// small_vocabulary(), cut or padded to config.vocabulary; suppress lists and alignment heads are set.
Checkpoint make_random_checkpoint(const ModelConfig& config, uint32_t seed);

// A tensor of these values in the given plain type (f32, f16, bf16) that owns its memory.
TensorView make_tensor(Shape shape, const std::vector<float>& values, DType type = DType::f32);

// The same checkpoint with every tensor in the given plain type.
Checkpoint with_type(const Checkpoint& checkpoint, DType type);

// Configuration, vocabulary, generation settings and the list of tensors with their shapes are equal, and
// each value lies within tolerance(tensor name, value in `left`). Source and format may differ.
using Tolerance = std::function<float(const std::string& tensor, float value)>;
::testing::AssertionResult same_checkpoint(
    const Checkpoint& left, const Checkpoint& right,
    const Tolerance& tolerance = [](const std::string&, float) { return 0.0f; });

// The message of the sotto::Error that `action` throws; fails the test and returns "" when it throws nothing
// else.
std::string error_of(const std::function<void()>& action);

}  // namespace sotto::test
