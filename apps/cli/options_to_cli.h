#pragma once

#include <functional>
#include <string_view>

#include <CLI/CLI.hpp>

#include <sotto/sotto.h>

namespace sotto::cli {

// Adds the engine's options to a command, each under its own name and group, and sets them on `options` as
// they are read. `wanted` picks by name. Bad values are usage errors with the engine's sentence.
void add_engine_options(CLI::App& command, sotto_options* options,
                        const std::function<bool(std::string_view name)>& wanted);

}  // namespace sotto::cli
