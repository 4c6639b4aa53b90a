#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace sotto::cli {

// How an option is written, the same in the help and in docs/options.md.
std::string option_spelling(const CLI::Option& option);  // "-m, --model", "--[no-]suppress-blank"
std::string option_value(const CLI::Option& option);     // "TEXT", "auto|cpu"; empty for a flag

// Lines of at most `columns` characters, broken at spaces.
std::vector<std::string> wrapped(std::string_view text, size_t columns);

// Commands of a command line with the options that are shown, in the order in which they were added.
std::vector<const CLI::App*> shown_commands(const CLI::App& app);
std::vector<const CLI::Option*> shown_options(const CLI::App& app, std::string_view group);
std::vector<const CLI::Option*> positionals(const CLI::App& app);
std::string command_path(const CLI::App& app);  // "sotto model info"
std::string usage_line(const CLI::App& app);

// Help that fits the terminal and ends with examples.
class HelpFormatter : public CLI::FormatterBase {
 public:
  explicit HelpFormatter(size_t width);
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

 private:
  std::string entry(const std::string& left, std::string_view text) const;

  size_t width_;
};

}  // namespace sotto::cli
