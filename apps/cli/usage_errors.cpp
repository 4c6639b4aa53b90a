#include "cli/usage_errors.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "cli/engine.h"
#include "cli/help.h"

namespace sotto::cli {
namespace {

// Levenshtein's distance: insertions, deletions and replacements.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// The command whose arguments were being read when the error came up.
const CLI::App& deepest_command(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : deepest_command(*chosen.front());
}

std::vector<std::string> long_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest ? fmt::format("; did you mean {}?", *nearest) : "";
}

std::string unknown_command_sentence(const CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : shown_commands(app)) names.push_back(command->get_name());
  std::error_code ignored;
  if (app.get_parent() == nullptr && std::filesystem::exists(word, ignored))
    return fmt::format("'{}' is not a command; to transcribe it: sotto transcribe {}", word, word);
  const std::string nearest = suggestion(word, names);
  return fmt::format(
      "there is no command '{}'{}", word,
      nearest.empty() ? fmt::format("; the commands are {}", fmt::join(names, ", ")) : nearest);
}

std::string sentence_for(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = deepest_command(app);
  std::vector<std::string> extras = command.remaining(true);
  if (extras.empty()) extras = app.remaining(true);
  if (!extras.empty()) {
    const std::string& word = extras.front();
    if (word.starts_with("-")) {
      const std::string name = word.substr(0, word.find('='));
      return fmt::format("there is no option {}{}", name, suggestion(name, long_names(command)));
    }
    if (!shown_commands(command).empty()) return unknown_command_sentence(command, word);
    return fmt::format("'{}' is one argument too many", word);
  }
  if (!shown_commands(command).empty() && dynamic_cast<const CLI::RequiredError*>(&error))
    return "say what to do";
  return error.what();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::optional<std::string> nearest;
  size_t smallest = std::max<size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    if (distance >= smallest) continue;
    smallest = distance;
    nearest = candidate;
  }
  return nearest;
}

int report_parse_result(const CLI::App& app, const CLI::ParseError& error, Console& console) {
  if (dynamic_cast<const CLI::CallForHelp*>(&error)) {
    console.print(deepest_command(app).help());
    return kExitDone;
  }
  if (dynamic_cast<const CLI::CallForVersion*>(&error)) {
    console.print(std::string(error.what()) + "\n");
    return kExitDone;
  }
  const CLI::App& command = deepest_command(app);
  console.error(
      fmt::format("{}\nUsage: {}   (--help tells more)", sentence_for(app, error), usage_line(command)));
  return kExitUsage;
}

}  // namespace sotto::cli
