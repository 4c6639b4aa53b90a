#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/checkpoint.h"

namespace sotto {

// OpenAI's name of a tensor, which whisper.cpp's files use too, to the name it has in a Checkpoint:
//   decoder.blocks.0.cross_attn.query.weight -> decoder.layers.0.encoder_attn.q_proj.weight
// Nothing for a name that Whisper's network does not have.
std::optional<std::string> checkpoint_name_from_openai(std::string_view name);

// What OpenAI's and whisper.cpp's files do not state: the layers' inner widths, which the tensors show, and
// the alignment heads, where the sizes are those of an official release.
void add_implied_facts(Checkpoint& checkpoint);

}  // namespace sotto
