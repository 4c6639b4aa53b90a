#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine.h"
#include "cli/options_to_cli.h"
#include "cli/table.h"

namespace sotto::cli {
namespace {

struct Request {
  std::string shapes = "tiny,base,small";
  bool json = false;
  OptionsOwner options = make_options();
};

void on_step(const char* step, void* user) {
  auto& console = *static_cast<Console*>(user);
  if (console.shows_status())
    console.set_status(shortened(step, console.width() - 1));
  else
    console.message(spdlog::level::debug, step);
}

std::string column_text(const std::string& name, const Json& value) {
  if ((name == "fraction" || name.starts_with("of ")) && value.is_number())
    return fmt::format("{:.0f}%", value.get<double>() * 100);
  return cell_text(value);
}

// Objects of the same kind as one table: a column for each member that occurs, in order of appearance.
std::string table_of(const Json& results) {
  std::vector<std::string> names;
  for (const Json& result : results)
    for (const auto& item : result.items())
      if (std::find(names.begin(), names.end(), item.key()) == names.end()) names.push_back(item.key());
  std::vector<std::vector<std::string>> rows{names};
  for (const Json& result : results) {
    std::vector<std::string> row;
    for (const std::string& name : names)
      row.push_back(result.contains(name) ? column_text(name, result.at(name)) : "");
    rows.push_back(std::move(row));
  }
  return aligned_table(rows);
}

int bench(const Request& request, Console& console) {
  const std::string report = text_from(sotto_bench, request.options.get(), request.shapes.c_str(), on_step,
                                       static_cast<void*>(&console));
  console.clear_status();
  if (request.json) {
    console.print(report + "\n");
    return kExitDone;
  }
  Json rest = Json::parse(report);
  std::string tables;
  for (const char* name : {"operations", "results"}) {
    if (const Json part = rest.value(name, Json::array()); !part.empty()) tables += "\n" + table_of(part);
    rest.erase(name);
  }
  console.print(readable(rest) + tables);
  return kExitDone;
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  const auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand(
      "bench",
      "Measure this machine's ceilings and how much of them the engine reaches, with random weights");
  command->add_option("--shapes", request->shapes, "Model sizes to measure, comma-separated")
      ->type_name("LIST")
      ->capture_default_str()
      ->group("Measuring");
  add_engine_options(*command, request->options.get(), [](std::string_view name) {
    return name == "device" || name == "threads" || name == "compute-type";
  });
  command->add_flag("--json", request->json, "Print the report as JSON")->group("Output");
  add_verbosity(*command, context);
  command->callback([request, &context] {
    context.action = [request, &context] { return bench(*request, context.console); };
  });
}

}  // namespace sotto::cli
