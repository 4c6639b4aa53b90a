#include <algorithm>
#include <memory>
#include <string>

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

void on_step(const char* step, void* user) {
  auto& console = *static_cast<Console*>(user);
  if (console.shows_status())
    console.set_status(shortened(step, console.width() - 1));
  else
    console.message(spdlog::level::debug, step);
}

std::string text_of(const Json& object, const char* name) {
  return object.value(name, std::string());
}

void append_wrapped(std::string& out, const std::string& text, size_t indent, size_t width) {
  for (const std::string& line : wrapped(text, std::max<size_t>(width, indent + 20) - indent))
    out += fmt::format("{:{}}{}\n", "", indent, line);
}

void append_gate(std::string& out, const Json& gate, size_t width) {
  out += fmt::format("  {:8} {}\n", text_of(gate, "status"), text_of(gate, "title"));
  constexpr size_t kIndent = 11;
  if (text_of(gate, "status") == "failed")
    append_wrapped(out, "tried: " + text_of(gate, "tried"), kIndent, width);
  if (!text_of(gate, "seen").empty()) append_wrapped(out, text_of(gate, "seen"), kIndent, width);
  if (!text_of(gate, "next").empty()) append_wrapped(out, "next: " + text_of(gate, "next"), kIndent, width);
}

std::string report_text(const Json& report, size_t width) {
  std::string out;
  for (const Json& examined : report.at("devices")) {
    const Json& device = examined.at("device");
    const std::string people = text_of(device, "generation");
    out += fmt::format("{}{}  {}{}\n", out.empty() ? "" : "\n", text_of(device, "id"),
                       text_of(device, "name"), people.empty() ? "" : " (" + people + ")");
    for (const Json& gate : examined.at("gates")) append_gate(out, gate, width);
  }
  for (const Json& finding : report.at("findings")) {
    out += "\n";
    append_wrapped(out,
                   fmt::format("{} {} See {}", text_of(finding, "sentence"), text_of(finding, "remedy"),
                               text_of(finding, "link")),
                   0, width);
  }
  return out;
}

int examine(const Request& request, Console& console) {
  const std::string report = text_from(sotto_doctor, request.options.get(), request.refresh ? 1 : 0, on_step,
                                       static_cast<void*>(&console));
  console.clear_status();
  console.print(request.json ? report + "\n" : report_text(Json::parse(report), console.width() - 1));
  return kExitDone;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  const auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand(
      "doctor",
      "Take every device through all steps from hardware to speed, and say what to do about failures");
  command->add_flag("--refresh", request->refresh, "Ask the drivers again, although their answers are known")
      ->group("Looking");
  add_engine_options(*command, request->options.get(),
                     [](std::string_view name) { return name == "probe-timeout" || name == "threads"; });
  command->add_flag("--json", request->json, "Print the report as JSON")->group("Output");
  add_verbosity(*command, context);
  command->callback([request, &context] {
    context.action = [request, &context] {
      configure(request->options.get());
      return examine(*request, context.console);
    };
  });
}

}  // namespace sotto::cli
