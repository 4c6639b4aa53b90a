#pragma once

#include <string>
#include <string_view>

#include "model/checkpoint.h"
#include "model/json_text.h"

// Hugging Face's config.json, generation_config.json and preprocessor_config.json. `name` is the file, for
// messages.
namespace sotto {

ModelConfig model_config_from_json(const Json& config, std::string_view name);
bool ties_output_to_embedding(const Json& config);

// Takes what the file says about decoding into `generation`; values that it lacks stay as they are, so that
// the older place (config.json) can be read first and the newer one second.
void read_generation_json(const Json& json, const ModelConfig& config, std::string_view name,
                          GenerationConfig& generation);

// The features that the model was trained on must be the ones that our front end makes.
void check_preprocessor_json(const Json& preprocessor, const ModelConfig& config, std::string_view name);

std::string config_json_text(const Checkpoint& checkpoint);
std::string generation_json_text(const Checkpoint& checkpoint);
std::string preprocessor_json_text(const ModelConfig& config);

}  // namespace sotto
