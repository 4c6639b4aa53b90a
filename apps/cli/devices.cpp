#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine.h"
#include "cli/help.h"
#include "cli/options_to_cli.h"
#include "cli/table.h"

namespace sotto::cli {
namespace {

struct Request {
  bool json = false;
  bool refresh = false;
  OptionsOwner options = make_options();
};

std::string text_of(const Json& object, const char* name) {
  return object.value(name, std::string());
}

std::string memory(const Json& device) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  const auto total = device.value("memory_total", uint64_t{0}),
             free = device.value("memory_free", uint64_t{0});
  if (total == 0) return "";
  return fmt::format("{:.1f} of {:.1f} GiB free", static_cast<double>(free) / kGibibyte,
                     static_cast<double>(total) / kGibibyte);
}

std::string architecture(const Json& device) {
  const std::string chip = text_of(device, "architecture"), people = text_of(device, "generation");
  if (chip.empty() || people.empty()) return chip + people;
  return fmt::format("{} ({})", people, chip);
}

std::string devices_table(const Json& devices) {
  std::vector<std::vector<std::string>> rows{{"device", "name", "architecture", "memory", "usable"}};
  for (const Json& device : devices)
    rows.push_back({text_of(device, "id"), text_of(device, "name"), architecture(device), memory(device),
                    device.at("usable").get<bool>() ? text_of(device, "status") : "no"});
  return aligned_table(rows);
}

void append_wrapped(std::string& out, const std::string& text, size_t indent, size_t width) {
  for (const std::string& line : wrapped(text, std::max<size_t>(width, indent + 20) - indent))
    out += fmt::format("{:{}}{}\n", "", indent, line);
}

// What is the matter, what to do, where to read on.
std::string finding_text(const Json& finding) {
  return fmt::format("{} {} See {}", text_of(finding, "sentence"), text_of(finding, "remedy"),
                     text_of(finding, "link"));
}

void append_details(std::string& out, const Json& device, size_t width) {
  constexpr size_t kIndent = 2;
  out += fmt::format("\n{}\n", text_of(device, "id"));
  if (!text_of(device, "driver").empty())
    append_wrapped(out, "driver: " + text_of(device, "driver"), kIndent, width);
  if (!device.at("compute_types").empty())
    append_wrapped(out, "computes in: " + cell_text(device.at("compute_types")), kIndent, width);
  if (!device.at("obstacle").is_null())
    append_wrapped(out, finding_text(device.at("obstacle")), kIndent, width);
}

int show_devices(const Request& request, Console& console) {
  const std::string document = text_from(sotto_devices, request.options.get(), request.refresh ? 1 : 0);
  if (request.json) {
    console.print(document + "\n");
    return kExitDone;
  }
  const Json answer = Json::parse(document);
  std::string text = devices_table(answer.at("devices"));
  for (const Json& device : answer.at("devices")) append_details(text, device, console.width() - 1);
  for (const Json& finding : answer.at("findings")) {
    text += "\n";
    append_wrapped(text, finding_text(finding), 0, console.width() - 1);
  }
  console.print(text);
  return kExitDone;
}

}  // namespace

void add_devices(CLI::App& app, Context& context) {
  const auto request = std::make_shared<Request>();
  CLI::App* command =
      app.add_subcommand("devices", "List what there is to compute on, and why what is there cannot be used");
  command->add_flag("--refresh", request->refresh, "Ask the drivers again, although their answers are known")
      ->group("Looking");
  add_engine_options(*command, request->options.get(),
                     [](std::string_view name) { return name == "probe-timeout"; });
  command->add_flag("--json", request->json, "Print the list as JSON")->group("Output");
  add_verbosity(*command, context);
  command->callback([request, &context] {
    context.action = [request, &context] {
      configure(request->options.get());
      return show_devices(*request, context.console);
    };
  });
}

}  // namespace sotto::cli
