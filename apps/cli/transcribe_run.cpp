#include "cli/transcribe_run.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "cli/input_files.h"
#include "cli/interrupt.h"
#include "cli/output_files.h"
#include "cli/progress.h"
#include "cli/transcriptions.h"

namespace sotto::cli {
namespace {

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

size_t whole_number(const std::string& text) {
  size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Carries one run over all inputs. Files are worked on side by side, but everything that is said about them,
// on standard output and on standard error, comes in their order: what concerns a file is held back until
// those before it have ended. Documents in the output folder are written as soon as they are complete.
class Run {
 public:
  Run(const TranscribeRequest& request, Console& console, Inputs inputs);
  int all();

 private:
  struct File {
    std::string path;
    std::vector<std::filesystem::path> documents;  // one per format, where there is an output folder
    bool begun = false, ended = false, titled = false;
    bool resumed = false;
    std::string held_text;
    std::vector<std::pair<spdlog::level::level_enum, std::string>> held_messages;
  };

  bool to_folder() const { return !request_.output_folder.empty(); }
  bool streams_text() const { return !to_folder() && request_.formats.front() == "txt"; }
  bool is_single() const { return files_.size() == 1; }

  void check_request() const;
  void announce(const sotto_model* model);

  void take(size_t index, const Begun& begun);
  void take(size_t index, const SegmentText& segment);
  void take(size_t index, const Advanced& advanced);
  void take(size_t index, const Ended& ended);
  void take_result(File& file, size_t index, const Ended& ended);
  void deliver(File& file, const sotto_result* result);
  void show_turn();

  int conclude() const;
  std::string stop_sentence() const;

  const TranscribeRequest& request_;
  Console& console_;
  std::vector<File> files_;
  OverallProgress progress_;
  std::optional<ProgressDisplay> display_;
  size_t turn_ = 0;  // the file whose text and messages are shown as they come
  bool any_title_ = false;
  size_t done_ = 0;
  size_t unusable_;         // arguments that named nothing
  size_t failed_ = 0;       // files
  double seconds_ = 0;      // of audio
  std::string stopped_at_;  // where the last file that an interrupt ended had got to
};

Run::Run(const TranscribeRequest& request, Console& console, Inputs inputs)
    : request_(request),
      console_(console),
      files_(inputs.files.size()),
      progress_(inputs.files.size()),
      unusable_(static_cast<size_t>(inputs.failed)) {
  OutputNames names(request.output_folder, inputs.files);
  for (size_t index = 0; index < files_.size(); ++index) {
    files_[index].path = std::move(inputs.files[index]);
    if (to_folder()) files_[index].documents = names.for_input(files_[index].path, request.formats);
  }
}

void Run::check_request() const {
  const auto is_stdin = [](const File& file) { return file.path == "-"; };
  if (std::count_if(files_.begin(), files_.end(), is_stdin) > 1)
    throw UsageFailure("standard input (-) can be read only once");
  if (!is_single() && !option_text(request_.options.get(), "checkpoint").empty())
    throw UsageFailure("--checkpoint names the file for one input; without it each of several has its own");
  if (option_is_on(request_.options.get(), "highlight-words") &&
      !option_is_on(request_.options.get(), "word-timestamps"))
    throw UsageFailure("--highlight-words needs --word-timestamps");
  if (to_folder()) return;
  if (request_.formats.size() > 1)
    throw UsageFailure("several output formats need a folder to go to; give one with --output-dir");
  if (!is_single() && !streams_text())
    throw UsageFailure(fmt::format("several files as {} need a folder to go to; give one with --output-dir",
                                   request_.formats.front()));
}

void Run::announce(const sotto_model* model) {
  console_.info(fmt::format("{}, model {}", sotto_model_device(model), sotto_model_name(model)));
  if (sotto_model_is_demonstration(model))
    console_.info(
        "This is the small built-in demonstration model, with modest accuracy; for a larger Whisper model "
        "use --model PATH (see README.md)");
}

void Run::take(size_t index, const Begun& begun) {
  File& file = files_[index];
  file.begun = true;
  file.resumed = begun.resumes;
  progress_.begin(index, begun.resumes);
  if (option_is_on(request_.options.get(), "resume") && !begun.resumes)
    file.held_messages.emplace_back(
        is_single() ? spdlog::level::info : spdlog::level::debug,
        fmt::format("there is no interrupted run over '{}': starting at its beginning", file.path));
  show_turn();
}

void Run::take(size_t index, const SegmentText& segment) {
  const std::string line = one_line(segment.text);
  if (!streams_text() || line.empty()) return;
  files_[index].held_text += line + "\n";
  show_turn();
}

void Run::take(size_t index, const Advanced& advanced) {
  progress_.advance(index, advanced.done, advanced.total);
  display_->update(progress_);
}

void Run::take(size_t index, const Ended& ended) {
  // A mistake in the options concerns every file alike.
  if (ended.status == SOTTO_ERROR_USAGE) throw UsageFailure(ended.problem);
  File& file = files_[index];
  file.ended = true;
  progress_.finish(index);
  try {
    if (!ended.result) throw Failure(ended.problem);
    take_result(file, index, ended);
  } catch (const Failure& failure) {
    file.held_messages.emplace_back(spdlog::level::err, failure.what());
    ++failed_;
  }
  show_turn();
}

void Run::take_result(File& file, size_t index, const Ended& ended) {
  const sotto_result* result = ended.result.get();
  const double seconds = sotto_result_duration(result);
  const std::string language = sotto_result_language(result);
  std::string summary = is_single() ? "" : fmt::format("[{}/{}] ", index + 1, files_.size());
  summary += fmt::format("{}: {} of audio", shown_name(file.path), clock_text(seconds));
  if (is_single() && !file.resumed)  // the time of one among several says nothing about it
    summary += fmt::format(" in {:.1f} s ({:.1f}x real time)", display_->elapsed(),
                           seconds / std::max(display_->elapsed(), 1e-3));
  if (!language.empty()) summary += ", language " + language;
  file.held_messages.emplace_back(spdlog::level::info, summary);

  deliver(file, result);
  seconds_ += seconds;
  if (ended.status == SOTTO_OK)
    ++done_;
  else
    stopped_at_ = clock_text(seconds);
}

void Run::deliver(File& file, const sotto_result* result) {
  if (!to_folder()) {
    if (!streams_text()) file.held_text = document(result, request_.formats.front(), request_.options.get());
    return;
  }
  for (size_t index = 0; index < file.documents.size(); ++index) {
    const std::filesystem::path& path = file.documents[index];
    write_whole_file(path, document(result, request_.formats[index], request_.options.get()));
    file.held_messages.emplace_back(spdlog::level::info, fmt::format("wrote {}", path.string()));
  }
}

// Shows what there is of the file whose turn it is, and of the next ones when it has ended.
void Run::show_turn() {
  for (; turn_ < files_.size() && files_[turn_].begun; ++turn_) {
    File& file = files_[turn_];
    if (!std::exchange(file.titled, true) && streams_text() && !is_single())
      console_.print(fmt::format("{}==> {} <==\n", std::exchange(any_title_, true) ? "\n" : "", file.path));
    if (!file.held_text.empty()) console_.print(std::exchange(file.held_text, {}));
    for (const auto& [level, text] : std::exchange(file.held_messages, {})) console_.message(level, text);
    if (!file.ended) return;
  }
}

std::string Run::stop_sentence() const {
  const bool any_begun =
      std::any_of(files_.begin(), files_.end(), [](const File& file) { return file.begun; });
  if (!any_begun) return "stopped before the work began";
  if (!is_single())
    return fmt::format(
        "stopped: {} of {} files are done, and what there is of the others has been kept; run the same "
        "command with --resume to go on",
        done_, files_.size());
  const std::string& path = files_.front().path;
  return fmt::format("stopped at {} of '{}': the transcript up to there has been kept; {}", stopped_at_,
                     shown_name(path),
                     path == "-" ? "the rest is missing" : "run the same command with --resume to go on");
}

int Run::conclude() const {
  if (done_ + failed_ < files_.size()) throw Failure(stop_sentence());
  if (!is_single() && done_ > 0)
    console_.info(
        fmt::format("{} files: {} of audio in {:.1f} s", done_, clock_text(seconds_), display_->elapsed()));
  const size_t failed = unusable_ + failed_, total = unusable_ + files_.size();
  if (failed > 0 && total > 1) console_.error(fmt::format("{} of {} inputs failed", failed, total));
  return failed > 0 ? kExitFailed : kExitDone;
}

int Run::all() {
  check_request();
  if (to_folder()) make_output_folder(request_.output_folder);

  catch_interrupts();
  const ModelOwner model = open_model(request_.options.get());
  announce(model.get());
  display_.emplace(console_, shown_name(files_.front().path));
  display_->update(progress_);

  std::vector<std::string> paths;
  for (const File& file : files_) paths.push_back(file.path);
  const size_t at_a_time = whole_number(option_text(request_.options.get(), "batch-size"));
  Transcriptions transcriptions(model.get(), request_.options.get(), std::move(paths), at_a_time);
  while (const auto event = transcriptions.next())
    std::visit([&](const auto& what) { take(event->file, what); }, event->what);
  console_.clear_status();
  return conclude();
}

}  // namespace

int run_transcribe(const TranscribeRequest& request, Console& console) {
  Inputs inputs = find_inputs(request.arguments, console);
  if (inputs.files.empty()) return kExitFailed;
  return Run(request, console, std::move(inputs)).all();
}

}  // namespace sotto::cli
