#include "cli/help.h"

#include <algorithm>

#include <fmt/format.h>

namespace sotto::cli {
namespace {

constexpr size_t kWidestText = 100;
constexpr size_t kNarrowestText = 60;
constexpr size_t kIndent = 2;
constexpr size_t kLeftColumn = 30;

bool is_switch_pair(const CLI::Option& option) {
  const auto& names = option.get_lnames();
  return names.size() == 2 && names[1] == "no-" + names[0];
}

std::string help_text(const CLI::Option& option) {
  const std::string standard = option.get_default_str();
  if (standard.empty()) return option.get_description();
  return fmt::format("{} (default: {})", option.get_description(), standard);
}

}  // namespace

std::string option_spelling(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  if (is_switch_pair(option)) return "--[no-]" + option.get_lnames()[0];
  std::string spelling;
  for (const std::string& name : option.get_snames())
    spelling += fmt::format("{}-{}", spelling.empty() ? "" : ", ", name);
  for (const std::string& name : option.get_lnames())
    spelling += fmt::format("{}--{}", spelling.empty() ? "" : ", ", name);
  return spelling;
}

std::string option_value(const CLI::Option& option) {
  return option.get_items_expected_max() == 0 ? "" : option.get_type_name();
}

std::vector<std::string> wrapped(std::string_view text, size_t columns) {
  std::vector<std::string> lines{""};
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > columns) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  return lines;
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app, std::string_view group) {
  // A command's own --help goes without saying.
  const CLI::Option* unsaid = app.get_parent() ? app.get_help_ptr() : nullptr;
  return app.get_options([&](const CLI::Option* option) {
    return option->get_group() == group && !option->get_positional() && option != unsaid;
  });
}

std::vector<const CLI::Option*> positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::string command_path(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent ? command_path(*parent) + " " + app.get_name() : app.get_name();
}

std::string usage_line(const CLI::App& app) {
  std::string line = command_path(app);
  if (!shown_commands(app).empty()) return line + " COMMAND";
  for (const CLI::Option* option : positionals(app)) {
    const std::string name = option->get_name(true) + (option->get_items_expected_max() > 1 ? "..." : "");
    line += option->get_required() ? " " + name : " [" + name + "]";
  }
  return line + " [OPTIONS]";
}

HelpFormatter::HelpFormatter(size_t width) : width_(std::clamp(width, kNarrowestText, kWidestText)) {}

std::string HelpFormatter::entry(const std::string& left, std::string_view text) const {
  std::string out = fmt::format("{:{}}{}", "", kIndent, left);
  const size_t column = kIndent + kLeftColumn;
  bool first = true;
  for (const std::string& line : wrapped(text, width_ - column)) {
    if (first && out.size() + 1 < column)
      out += fmt::format("{:{}}{}", "", column - out.size(), line);
    else
      out += fmt::format("\n{:{}}{}", "", column, line);
    first = false;
  }
  return out + "\n";
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::string out;
  for (const std::string& line : wrapped(app->get_description(), width_)) out += line + "\n";
  out += fmt::format("\nUsage: {}\n", usage_line(*app));
  if (const auto arguments = positionals(*app); !arguments.empty()) {
    out += "\nArguments:\n";
    for (const CLI::Option* option : arguments) out += entry(option_spelling(*option), help_text(*option));
  }
  if (const auto commands = shown_commands(*app); !commands.empty()) {
    out += "\nCommands:\n";
    for (const CLI::App* command : commands) out += entry(command->get_name(), command->get_description());
  }
  for (const std::string& group : app->get_groups()) {
    const auto options = shown_options(*app, group);
    if (group.empty() || options.empty()) continue;
    out += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : options) {
      const std::string value = option_value(*option);
      out += entry(option_spelling(*option) + (value.empty() ? "" : " " + value), help_text(*option));
    }
  }
  if (!app->get_footer().empty()) out += "\n" + app->get_footer() + "\n";
  return out;
}

}  // namespace sotto::cli
