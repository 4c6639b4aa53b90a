#include "cli/options_to_cli.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cli/engine.h"

namespace sotto::cli {
namespace {

constexpr std::array<std::pair<std::string_view, char>, 3> kShortNames{
    {{"model", 'm'}, {"language", 'l'}, {"threads", 't'}}};

// What a text is, where it is not just any text.
constexpr std::array<std::pair<std::string_view, const char*>, 4> kValueNames{
    {{"model", "PATH"}, {"language", "LANGUAGE"}, {"languages", "LIST"}, {"checkpoint", "FILE"}}};

std::string spelling(const sotto_option_info& info) {
  const std::string name = info.name;
  if (info.type == SOTTO_OPTION_BOOL) return fmt::format("--{},!--no-{}", name, name);
  for (const auto& [long_name, short_name] : kShortNames)
    if (long_name == name) return fmt::format("-{},--{}", short_name, name);
  return "--" + name;
}

std::string value_name(const sotto_option_info& info) {
  std::string choices = info.choices;
  if (!choices.empty()) {
    std::replace(choices.begin(), choices.end(), ',', '|');
    return choices;
  }
  for (const auto& [name, value] : kValueNames)
    if (name == info.name) return value;
  return info.type == SOTTO_OPTION_INT || info.type == SOTTO_OPTION_NUMBER ? "N" : "TEXT";
}

void set(sotto_options* options, const std::string& name, const std::string& value) {
  if (sotto_options_set(options, name.c_str(), value.c_str()) != SOTTO_OK)
    throw CLI::ValidationError(sotto_last_error());
}

void add_one(CLI::App& command, sotto_options* options, const sotto_option_info& info) {
  const std::string name = info.name;
  CLI::Option* option;
  if (info.type == SOTTO_OPTION_BOOL) {
    // The count is negative when the --no- form was given last.
    option = command.add_flag_function(
        spelling(info), [=](int64_t count) { set(options, name, count > 0 ? "true" : "false"); }, info.help);
    option->default_str(std::string_view(info.default_value) == "true" ? "on" : "off");
  } else {
    option = command.add_option_function<std::string>(
        spelling(info), [=](const std::string& value) { set(options, name, value); }, info.help);
    option->type_name(value_name(info))->default_str(info.default_value);
  }
  option->group(info.group)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

}  // namespace

void add_engine_options(CLI::App& command, sotto_options* options,
                        const std::function<bool(std::string_view name)>& wanted) {
  for (size_t index = 0; index < sotto_option_count(); ++index) {
    sotto_option_info info{};
    require_ok(sotto_option_at(index, &info));
    if (wanted(info.name)) add_one(command, options, info);
  }
}

}  // namespace sotto::cli
