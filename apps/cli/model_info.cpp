#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/engine.h"
#include "cli/table.h"

namespace sotto::cli {
namespace {

struct Request {
  std::string path;
  bool json = false;
};

int show_model(const Request& request, Console& console) {
  const std::string description = text_from(sotto_model_info, request.path.c_str());
  console.print(request.json ? description + "\n" : readable(Json::parse(description)));
  return kExitDone;
}

}  // namespace

void add_model_info(CLI::App& app, Context& context) {
  const auto request = std::make_shared<Request>();
  CLI::App* model = app.add_subcommand("model", "Look at models");
  model->require_subcommand(1);
  CLI::App* command = model->add_subcommand("info", "Show what a model is: format, sizes, languages");
  command->add_option(
      "PATH", request->path,
      "Model file or folder of any format, or a model's name; without it: the built-in model");
  command->add_flag("--json", request->json, "Print the description as JSON")->group("Output");
  command->callback([request, &context] {
    context.action = [request, &context] { return show_model(*request, context.console); };
  });
}

}  // namespace sotto::cli
