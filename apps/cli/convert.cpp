#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine.h"

namespace sotto::cli {
namespace {

struct Request {
  std::string source;
  std::string target;
  std::string type = "float16";
  bool force = false;
};

int convert(const Request& request, Console& console) {
  if (!request.force && std::filesystem::exists(request.target))
    throw Failure(fmt::format("'{}' exists already; --force replaces it", request.target));
  require_ok(sotto_convert(request.source.c_str(), request.target.c_str(), request.type.c_str()));
  console.info(fmt::format("wrote {} ({:.1f} MB)", request.target,
                           static_cast<double>(std::filesystem::file_size(request.target)) / 1e6));
  return kExitDone;
}

}  // namespace

void add_convert(CLI::App& app, Context& context) {
  const auto request = std::make_shared<Request>();
  CLI::App* command =
      app.add_subcommand("convert", "Write a model of any format as one self-describing safetensors file");
  command->add_option("SRC", request->source, "Model file or folder of any format")->required();
  command->add_option("DST", request->target, "The file to write")->required();
  command->add_option("--type", request->type, "Number format of the weights")
      ->type_name("float32|float16|bfloat16")
      ->check(CLI::IsMember({"float32", "float16", "bfloat16"}).description(""))
      ->capture_default_str()
      ->group("Output");
  command->add_flag("--force", request->force, "Replace DST if it exists")->group("Output");
  add_verbosity(*command, context);
  command->callback([request, &context] {
    context.action = [request, &context] { return convert(*request, context.console); };
  });
}

}  // namespace sotto::cli
