#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/terminal.h"

namespace sotto::cli {

// The candidate that differs least, when it differs by little.
std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates);

// Answers --help and --version on standard output; anything else is one sentence on standard error that says
// what would be right. Returns the exit code.
int report_parse_result(const CLI::App& app, const CLI::ParseError& error, Console& console);

}  // namespace sotto::cli
