#include "cli/command.h"

#include <fmt/format.h>

#include "cli/engine.h"
#include "cli/help.h"

namespace sotto::cli {

std::unique_ptr<CLI::App> make_application(Context& context) {
  auto app = std::make_unique<CLI::App>("Sotto turns speech into text on your own machine.", "sotto");
  app->formatter(std::make_shared<HelpFormatter>(context.console.width()));
  app->require_subcommand(1);
  app->set_help_flag("-h,--help", "Show this help; after a command, the help of that command");
  app->set_version_flag("--version", fmt::format("sotto {}", sotto_version()), "Show the version");
  add_transcribe(*app, context);
  add_model_info(*app, context);
  add_convert(*app, context);
  add_bench(*app, context);
  add_devices(*app, context);
  add_doctor(*app, context);
  add_config(*app, context);
  add_option_reference(*app, context);
  app->footer(
      "Examples:\n"
      "  sotto transcribe talk.mp3                    print the text\n"
      "  sotto transcribe talk.mp3 -f srt -o out      write out/talk.srt\n"
      "  sotto transcribe --help                      all options\n"
      "\n"
      "Exit codes: 0 done, 1 something failed, 2 the command line makes no sense.");
  return app;
}

void add_verbosity(CLI::App& command, Context& context) {
  auto* quiet = command.add_flag_callback(
      "-q,--quiet", [&context] { context.console.set_verbosity(Verbosity::quiet); },
      "Say nothing but the answer and errors");
  auto* verbose = command.add_flag_callback(
      "-v,--verbose", [&context] { context.console.set_verbosity(Verbosity::verbose); },
      "Say more about what is done");
  quiet->excludes(verbose);
  quiet->group("Messages");
  verbose->group("Messages");
}

}  // namespace sotto::cli
