#include <csignal>
#include <exception>

#include "cli/command.h"
#include "cli/engine.h"
#include "cli/usage_errors.h"

namespace sotto::cli {
namespace {

spdlog::level::level_enum level_of(sotto_log_level level) {
  switch (level) {
    case SOTTO_LOG_DEBUG:
      return spdlog::level::debug;
    case SOTTO_LOG_INFO:
      return spdlog::level::info;
    case SOTTO_LOG_WARNING:
      return spdlog::level::warn;
    case SOTTO_LOG_ERROR:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

void show_engine_message(sotto_log_level level, const char* text, void* user) {
  static_cast<Context*>(user)->console.message(level_of(level), text);
}

int run(int argc, char** argv) {
  // A reader that went away (`sotto ... | head`) ends the program without a word, as with any other filter.
  std::signal(SIGPIPE, SIG_DFL);
  Context context;
  try {
    sotto_set_log(show_engine_message, &context);
    const auto app = make_application(context);
    try {
      app->parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return report_parse_result(*app, error, context.console);
    }
    const int exit_code = context.action();
    sotto_set_log(nullptr, nullptr);
    return exit_code;
  } catch (const Failure& failure) {
    context.console.error(failure.what());
    return failure.exit_code();
  } catch (const std::exception& problem) {
    context.console.error(problem.what());
    return kExitFailed;
  }
}

}  // namespace
}  // namespace sotto::cli

int main(int argc, char** argv) {
  return sotto::cli::run(argc, argv);
}
