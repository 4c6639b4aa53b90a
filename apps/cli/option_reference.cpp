#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine.h"
#include "cli/help.h"

namespace sotto::cli {
namespace {

std::string table_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';  // a bare one would end the cell
    cell += c;
  }
  return cell;
}

std::string code(const std::string& text) {
  return text.empty() ? "" : fmt::format("`{}`", table_cell(text));
}

std::string option_row(const CLI::Option& option) {
  const std::string value = option_value(option);
  const std::string spelling = option_spelling(option) + (value.empty() ? "" : " " + value);
  return fmt::format("| {} | {} | {} |\n", code(spelling), code(option.get_default_str()),
                     table_cell(option.get_description()));
}

void append_command(std::string& page, const CLI::App& command) {
  for (const CLI::App* inner : shown_commands(command)) append_command(page, *inner);
  if (!shown_commands(command).empty()) return;
  page += fmt::format("\n## {}\n\n{}.\n\n```text\n{}\n```\n", command_path(command),
                      command.get_description(), usage_line(command));
  if (const auto arguments = positionals(command); !arguments.empty()) {
    page += "\n| argument | meaning |\n| --- | --- |\n";
    for (const CLI::Option* option : arguments)
      page +=
          fmt::format("| {} | {} |\n", code(option_spelling(*option)), table_cell(option->get_description()));
  }
  for (const std::string& group : command.get_groups()) {
    const auto options = shown_options(command, group);
    if (group.empty() || options.empty()) continue;
    page += fmt::format("\n### {}\n\n| option | default | meaning |\n| --- | --- | --- |\n", group);
    for (const CLI::Option* option : options) page += option_row(*option);
  }
}

std::string option_page(const CLI::App& app) {
  std::string page =
      "# Commands and options\n\n"
      "Made by `./sotto options --markdown` from the program's own list; a test keeps this page equal to "
      "it.\n";
  for (const CLI::App* command : shown_commands(app)) append_command(page, *command);
  return page;
}

}  // namespace

void add_option_reference(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("options", "Print the reference of all commands and options");
  command
      ->add_flag_callback(
          "--markdown", [] {}, "As Markdown, which is the form of docs/options.md and the default")
      ->group("Output");
  command->callback([&app, &context] {
    context.action = [&app, &context] {
      context.console.print(option_page(app));
      return kExitDone;
    };
  });
}

}  // namespace sotto::cli
