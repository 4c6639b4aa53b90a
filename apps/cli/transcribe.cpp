#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/engine.h"
#include "cli/options_to_cli.h"
#include "cli/transcribe_run.h"

namespace sotto::cli {
namespace {

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

}  // namespace

void add_transcribe(CLI::App& app, Context& context) {
  const auto request = std::make_shared<TranscribeRequest>();
  CLI::App* command = app.add_subcommand("transcribe", "Write down what is said in audio and video files");
  command
      ->add_option("FILE", request->arguments,
                   "Audio or video files, folders of them, or - for standard input")
      ->required()
      ->expected(1, -1);
  command
      ->add_option_function<std::string>(
          "-f,--output-format",
          [request](const std::string& list) { request->formats = parse_formats(list); },
          fmt::format("What to write, comma-separated: {}, or all", fmt::join(known_formats(), ", ")))
      ->type_name("LIST")
      ->default_str(request->formats.front())
      ->group("Output");
  command
      ->add_option("-o,--output-dir", request->output_folder,
                   "Write NAME.FORMAT for each input into this folder; without it the transcript goes to "
                   "standard output")
      ->type_name("FOLDER")
      ->group("Output");
  add_engine_options(*command, request->options.get(), [](std::string_view) { return true; });
  add_verbosity(*command, context);
  command->footer(
      "Examples:\n"
      "  sotto transcribe talk.mp3\n"
      "  sotto transcribe --model models/whisper-small --language de interview.mkv\n"
      "  sotto transcribe lectures -f srt,json -o subtitles\n"
      "  ffmpeg -i talk.mp3 -f wav - | sotto transcribe --quiet - > talk.txt\n"
      "\n"
      "Several files are worked on side by side; their transcripts come in the order of\n"
      "the files. Ctrl-C stops and keeps what is done; the same command with --resume\n"
      "goes on from there. A second Ctrl-C ends at once.");
  command->callback([request, &context] {
    context.action = [request, &context] {
      configure(request->options.get());
      return run_transcribe(*request, context.console);
    };
  });
}

}  // namespace sotto::cli
