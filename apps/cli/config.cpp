#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine.h"
#include "cli/table.h"

namespace sotto::cli {
namespace {

struct Request {
  bool json = false;
  bool example = false;
};

std::string configuration_text(const Json& configuration) {
  std::vector<std::vector<std::string>> rows{{"option", "value", "from"}};
  for (const Json& option : configuration.at("options"))
    rows.push_back({option.at("name").get<std::string>(), option.at("value").get<std::string>(),
                    option.at("origin").get<std::string>()});
  std::string text = aligned_table(rows) + "\nLooked for:\n";
  for (const Json& file : configuration.at("files"))
    text += fmt::format("  {} ({})\n", file.at("path").get<std::string>(),
                        file.at("read").get<bool>() ? "read" : "not there");
  return text;
}

int show_configuration(const Request& request, Console& console) {
  if (request.example) {
    console.print(text_from(sotto_example_configuration));
    return kExitDone;
  }
  const OptionsOwner options = make_options();
  const std::string document = text_from(sotto_configuration, options.get());
  if (request.json) {
    console.print(document + "\n");
    return kExitDone;
  }
  const Json configuration = Json::parse(document);
  for (const Json& note : configuration.at("notes")) console.warning(note.get<std::string>());
  console.print(configuration_text(configuration));
  return kExitDone;
}

}  // namespace

void add_config(CLI::App& app, Context& context) {
  const auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand(
      "config", "Show every option's value and where it comes from: files, .env, environment");
  auto* example = command->add_flag("--example", request->example,
                                    "Print a configuration file with every option as a comment");
  auto* json = command->add_flag("--json", request->json, "Print the values as JSON");
  example->group("Output")->excludes(json);
  json->group("Output");
  command->callback([request, &context] {
    context.action = [request, &context] { return show_configuration(*request, context.console); };
  });
}

}  // namespace sotto::cli
