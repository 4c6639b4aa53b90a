#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine.h"
#include "cli/input_files.h"
#include "cli/interrupt.h"
#include "cli/options_to_cli.h"
#include "cli/output_files.h"
#include "cli/progress.h"

namespace sotto::cli {
namespace {

constexpr const char* kPlainText = "txt";

struct Request {
  std::vector<std::string> arguments;
  std::vector<std::string> formats;  // empty: plain text
  std::string output_folder;         // empty: standard output
  OptionsOwner options = make_options();
};

std::vector<std::string> known_formats() {
  std::vector<std::string> formats;
  for (size_t index = 0; index < sotto_output_format_count(); ++index)
    formats.emplace_back(sotto_output_format(index));
  return formats;
}

// "txt,srt" or "all", as given to --output-format.
std::vector<std::string> parse_formats(const std::string& list) {
  const std::vector<std::string> known = known_formats();
  if (list == "all") return known;
  std::vector<std::string> formats;
  for (const std::string& name : CLI::detail::split(list, ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw CLI::ValidationError(
          fmt::format("there is no output format '{}'; there are {} and all", name, fmt::join(known, ", ")));
    if (std::find(formats.begin(), formats.end(), name) == formats.end()) formats.push_back(name);
  }
  return formats;
}

// A segment as one line. Control characters go: text from a model must not be able to steer the terminal.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    const char shown = is_control ? ' ' : c;
    if (shown != ' ' || (!line.empty() && line.back() != ' ')) line += shown;
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

std::string shown_name(const std::string& input) {
  return input == "-" ? "standard input" : std::filesystem::path(input).filename().string();
}

// Carries one run over all inputs.
class Run {
 public:
  Run(Request& request, Console& console) : request_(request), console_(console) {}
  int all();

 private:
  bool to_folder() const { return !request_.output_folder.empty(); }
  bool streams_text() const { return !to_folder() && request_.formats.front() == kPlainText; }
  void check_outputs() const;
  void announce(const sotto_model* model);
  void one(sotto_model* model, const std::string& input, OutputNames& names);
  sotto_status transcribe(sotto_model* model, const std::string& input, ResultOwner& result);
  void deliver(const sotto_result* result, const std::string& input, OutputNames& names);
  int summary() const;

  Request& request_;
  Console& console_;
  Inputs inputs_;
  int done_ = 0;
  int failed_ = 0;
};

// What the callbacks of the C API are given. An exception must not travel through the engine: it waits here.
struct Listener {
  Console& console;
  Progress& progress;
  bool streams_text;
  std::exception_ptr problem;
};

void on_segment(const sotto_segment* segment, void* user) {
  auto& listener = *static_cast<Listener*>(user);
  const std::string text = one_line(segment->text);
  if (!listener.streams_text || text.empty() || listener.problem) return;
  try {
    listener.console.print(fmt::format("{}\n", text));
  } catch (...) {
    listener.problem = std::current_exception();
  }
}

void on_progress(double done, double total, void* user) {
  static_cast<Listener*>(user)->progress.update(done, total);
}

int should_stop(void* user) {
  return interrupted() || static_cast<Listener*>(user)->problem;
}

void Run::check_outputs() const {
  if (to_folder()) return;
  if (request_.formats.size() > 1)
    throw UsageFailure("several output formats need a folder to go to; give one with --output-dir");
  if (inputs_.files.size() > 1 && request_.formats.front() != kPlainText)
    throw UsageFailure(fmt::format("several files as {} need a folder to go to; give one with --output-dir",
                                   request_.formats.front()));
}

void Run::announce(const sotto_model* model) {
  console_.info(fmt::format("{}, model {}", sotto_model_device(model), sotto_model_name(model)));
  if (sotto_model_is_demonstration(model))
    console_.info(
        "This is the small built-in demonstration model, with modest accuracy; for a larger Whisper model "
        "use "
        "--model PATH (see README.md)");
}

sotto_status Run::transcribe(sotto_model* model, const std::string& input, ResultOwner& result) {
  const size_t count = inputs_.files.size();
  const std::string position =
      count > 1 ? fmt::format("[{}/{}] ", done_ + failed_ - inputs_.failed + 1, count) : "";
  Progress progress(console_, position + shown_name(input));
  Listener listener{console_, progress, streams_text(), nullptr};
  const sotto_callbacks callbacks{sizeof(sotto_callbacks), &listener, on_segment, on_progress, should_stop};
  progress.update(0, -1);
  sotto_result* raw = nullptr;
  const sotto_status status =
      sotto_transcribe_file(model, input.c_str(), request_.options.get(), &callbacks, &raw);
  result.reset(raw);
  if (listener.problem) std::rethrow_exception(listener.problem);
  if (result) {
    const double seconds = sotto_result_duration(raw);
    console_.info(fmt::format("{}{}: {} of audio in {:.1f} s ({:.1f}x real time), language {}", position,
                              shown_name(input), clock_text(seconds), progress.elapsed(),
                              seconds / std::max(progress.elapsed(), 1e-3), sotto_result_language(raw)));
  }
  return status;
}

void Run::deliver(const sotto_result* result, const std::string& input, OutputNames& names) {
  if (!to_folder()) {
    if (!streams_text()) console_.print(document(result, request_.formats.front().c_str()));
    return;
  }
  const auto paths = names.for_input(input, request_.formats);
  for (size_t index = 0; index < paths.size(); ++index) {
    write_whole_file(paths[index], document(result, request_.formats[index].c_str()));
    console_.info(fmt::format("wrote {}", paths[index].string()));
  }
}

void Run::one(sotto_model* model, const std::string& input, OutputNames& names) {
  if (streams_text() && inputs_.files.size() > 1)
    console_.print(fmt::format("{}==> {} <==\n", done_ + failed_ > inputs_.failed ? "\n" : "", input));
  ResultOwner result;
  const sotto_status status = transcribe(model, input, result);
  if (status != SOTTO_CANCELLED) require_ok(status);
  if (result) deliver(result.get(), input, names);
  if (status == SOTTO_CANCELLED)
    throw Failure(
        fmt::format("stopped at {} of '{}': the transcript up to there has been kept, the rest is missing",
                    result ? clock_text(sotto_result_duration(result.get())) : "the start", input));
  ++done_;
}

int Run::summary() const {
  const int total = done_ + failed_;
  if (failed_ > 0 && total > 1) console_.error(fmt::format("{} of {} inputs failed", failed_, total));
  return failed_ > 0 ? kExitFailed : kExitDone;
}

int Run::all() {
  inputs_ = find_inputs(request_.arguments, console_);
  failed_ = inputs_.failed;
  if (inputs_.files.empty()) return kExitFailed;
  if (request_.formats.empty()) request_.formats = {kPlainText};
  check_outputs();
  if (to_folder()) make_output_folder(request_.output_folder);

  catch_interrupts();
  const ModelOwner model = open_model(request_.options.get());
  announce(model.get());
  OutputNames names(request_.output_folder, inputs_.files);
  for (const std::string& input : inputs_.files) {
    if (interrupted()) throw Failure("stopped before all files were done");
    try {
      one(model.get(), input, names);
    } catch (const Failure& failure) {
      if (interrupted() || failure.exit_code() == kExitUsage) throw;
      console_.error(failure.what());
      ++failed_;
    }
  }
  return summary();
}

}  // namespace

void add_transcribe(CLI::App& app, Context& context) {
  const auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand("transcribe", "Write down what is said in audio and video files");
  command
      ->add_option("FILE", request->arguments,
                   "Audio or video files, folders of them, or - for standard input")
      ->required()
      ->expected(1, -1);
  add_engine_options(*command, request->options.get(), [](std::string_view) { return true; });
  command
      ->add_option_function<std::string>(
          "-f,--output-format",
          [request](const std::string& list) { request->formats = parse_formats(list); },
          fmt::format("What to write, comma-separated: {}, or all", fmt::join(known_formats(), ", ")))
      ->type_name("LIST")
      ->default_str(kPlainText)
      ->group("Output");
  command
      ->add_option("-o,--output-dir", request->output_folder,
                   "Write NAME.FORMAT for each input into this folder; without it the transcript goes to "
                   "standard output")
      ->type_name("FOLDER")
      ->group("Output");
  add_verbosity(*command, context);
  command->footer(
      "Examples:\n"
      "  sotto transcribe talk.mp3\n"
      "  sotto transcribe --model models/whisper-small --language de interview.mkv\n"
      "  sotto transcribe lectures -f srt,json -o subtitles\n"
      "  ffmpeg -i talk.mp3 -f wav - | sotto transcribe --quiet - > talk.txt\n"
      "\n"
      "Ctrl-C stops and keeps what is done; a second one ends at once.");
  command->callback([request, &context] {
    context.action = [request, &context] { return Run(*request, context.console).all(); };
  });
}

}  // namespace sotto::cli
