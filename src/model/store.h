#pragma once

#include <filesystem>
#include <string>

#include "model/checkpoint.h"

namespace sotto {

// A --model value to a path: a file or folder as given, else a model of that name that other programs or the
// user left on this machine (Sotto's own model folder, the Hugging Face cache, OpenAI's and whisper.cpp's
// folders). Nothing is downloaded. Throws Error(io) that says where it looked and how to get a model.
std::filesystem::path find_model(const std::string& name_or_path);

// The names of the model that is part of the program: "nano", or nothing at all.
bool is_embedded_model(const std::string& name_or_path);

// Opens what a user named: the embedded model, a path, or a model found on this machine.
Checkpoint open_checkpoint(const std::string& name_or_path);

}  // namespace sotto
