#pragma once

#include <functional>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/terminal.h"

namespace sotto::cli {

// What every command is given: where to speak, and where to leave what is to be done once the command line is
// read.
struct Context {
  Console console;
  std::function<int()> action;  // returns the exit code
};

// One per command, in the file of its name. The context outlives the application.
void add_transcribe(CLI::App& app, Context& context);
void add_model_info(CLI::App& app, Context& context);
void add_convert(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_devices(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_config(CLI::App& app, Context& context);
void add_option_reference(CLI::App& app, Context& context);

// The whole command line, with every command added.
std::unique_ptr<CLI::App> make_application(Context& context);

// Adds --quiet and --verbose to a command.
void add_verbosity(CLI::App& command, Context& context);

}  // namespace sotto::cli
