#include "base/options.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::array kSpecs{
    OptionSpec{"model", "Model",
               "Model file or folder, or the name of one kept on this machine; empty: the built-in "
               "demonstration model",
               "", &Options::model},
    OptionSpec{
        "device", "Model",
        "Where to compute; auto: the best device that can be used. With an index or the beginning of a UUID: "
        "cuda:1 (see docs/gpu.md)",
        "auto,cpu,cuda,rocm,hip,metal,mps,vulkan", &Options::device, 0, 0, true},
    OptionSpec{"fallback", "Model",
               "Go on with the CPU, after a warning, when the device asked for cannot be used", "",
               &Options::fallback},
    OptionSpec{"probe-timeout", "Model", "Seconds that a GPU driver has to tell its devices", "",
               &Options::probe_timeout, 0.1, 600},
    OptionSpec{"compute-type", "Model",
               "Number format of the weights; auto is int8 on the CPU, float16 on a GPU that is good at it",
               "auto,float32,float16,bfloat16,int8,int8_float32,int8_float16", &Options::compute_type},
    OptionSpec{"threads", "Model", "CPU threads; 0: one per physical core", "", &Options::threads, 0, 1024},
    OptionSpec{"batch-size", "Model",
               "Most 30-second windows that are worked on side by side, from all files together", "",
               &Options::batch_size, 1, 256},
    OptionSpec{"keep-alive", "Model",
               "Seconds without work after which the model leaves the device's memory, to come back with the "
               "next work; 0: at once; negative: never",
               "", &Options::keep_alive, -1, 1e6},
    OptionSpec{
        "flash-attn", "Model",
        "Attention inside a window by the kernels that are fastest on the device; off: by the plain ones, "
        "to compare",
        "", &Options::flash_attn},
    OptionSpec{"language", "Language",
               "Spoken language as code or English name (de, german); auto: find it out", "",
               &Options::language},
    OptionSpec{"languages", "Language",
               "Comma-separated languages that auto may choose from; empty: all that the model knows", "",
               &Options::languages},
    OptionSpec{"language-detection-segments", "Language",
               "Most 30-second windows to listen to before the language is settled", "",
               &Options::language_detection_segments, 1, 100},
    OptionSpec{"language-detection-threshold", "Language",
               "A language found with at least this probability is taken at once", "",
               &Options::language_detection_threshold, 0, 1},
    OptionSpec{"multilingual", "Language",
               "Find out the language anew for every window: for recordings that mix languages", "",
               &Options::multilingual},
    OptionSpec{"task", "Language", "transcribe keeps the language, translate writes English",
               "transcribe,translate", &Options::task},
    OptionSpec{"temperature", "Search",
               "Temperatures to try in turn, comma-separated, until a window's text is good enough; 0 takes "
               "the likeliest text, more lets chance in",
               "", &Options::temperature},
    OptionSpec{"beam-size", "Search", "Texts followed side by side at temperature 0; 1 is greedy and fastest",
               "", &Options::beam_size, 1, 64},
    OptionSpec{"best-of", "Search", "Texts drawn at temperatures above 0, of which the likeliest is taken",
               "", &Options::best_of, 1, 64},
    OptionSpec{"patience", "Search", "A beam search ends after beam-size times this many finished texts", "",
               &Options::patience, 0.01, 100},
    OptionSpec{"length-penalty", "Search",
               "Texts are compared by their log-probability over their length to this power", "",
               &Options::length_penalty, -10, 10},
    OptionSpec{"repetition-penalty", "Search",
               "Above 1: tokens already written in the window become less likely", "",
               &Options::repetition_penalty, 0.01, 100},
    OptionSpec{"no-repeat-ngram-size", "Search",
               "Above 0: no run of this many tokens is written twice in a window", "",
               &Options::no_repeat_ngram_size, 0, 448},
    OptionSpec{"seed", "Search",
               "Seed of the chance at temperatures above 0; the same seed gives the same text", "",
               &Options::seed, 0, 2147483647},
    OptionSpec{"compression-ratio-threshold", "Search",
               "A text that compresses better than this repeats itself: the next temperature is tried", "",
               &Options::compression_ratio_threshold, 0, 1000},
    OptionSpec{"log-prob-threshold", "Search",
               "A text with a lower average log-probability is unlikely: the next temperature is tried", "",
               &Options::log_prob_threshold, -1000, 0},
    OptionSpec{"no-speech-threshold", "Search",
               "A window with a higher no-speech probability whose text is unlikely counts as silence", "",
               &Options::no_speech_threshold, 0, 1},
    OptionSpec{"max-new-tokens", "Search",
               "Most tokens for one window; 0: half of what the model has room for", "",
               &Options::max_new_tokens, 0, 448},
    OptionSpec{"initial-prompt", "Context",
               "Text that the model takes as spoken before the audio: names, spelling, style", "",
               &Options::initial_prompt},
    OptionSpec{"carry-initial-prompt", "Context",
               "Give the initial prompt to every window, not only to the first", "",
               &Options::carry_initial_prompt},
    OptionSpec{"prefix", "Context", "Text that the first window's transcript must begin with", "",
               &Options::prefix},
    OptionSpec{"hotwords", "Context", "Words that are likely to be spoken; given to every window as a hint",
               "", &Options::hotwords},
    OptionSpec{"condition-on-previous-text", "Context",
               "Give each window the text before it; without, a repetition loop is less likely, and names "
               "are less consistent",
               "", &Options::condition_on_previous_text},
    OptionSpec{"prompt-reset-on-temperature", "Context",
               "Forget the text before when a window needed a higher temperature than this", "",
               &Options::prompt_reset_on_temperature, 0, 10},
    OptionSpec{"max-context", "Context",
               "Most tokens of earlier text that a window is given; -1: as many as the model has room for",
               "", &Options::max_context, -1, 448},
    OptionSpec{"mode", "Times",
               "sequential goes window by window as the reference does; batched decodes speech regions side "
               "by side: faster on long files, without the text before as context",
               "sequential,batched", &Options::mode},
    OptionSpec{"without-timestamps", "Times",
               "Do not let the model place times inside a window; segments are then whole windows", "",
               &Options::without_timestamps},
    OptionSpec{"max-initial-timestamp", "Times",
               "The first text of a window starts at most this many seconds into it", "",
               &Options::max_initial_timestamp, 0, 30},
    OptionSpec{"word-timestamps", "Times", "Find out when each word begins and ends", "",
               &Options::word_timestamps},
    OptionSpec{"prepend-punctuations", "Times",
               "Punctuation that belongs to the word after it, for word times", "",
               &Options::prepend_punctuations},
    OptionSpec{"append-punctuations", "Times",
               "Punctuation that belongs to the word before it, for word times", "",
               &Options::append_punctuations},
    OptionSpec{"checkpoint", "Long work",
               "File that records finished windows, so that an interrupted run can go on where it stopped; "
               "empty: none",
               "", &Options::checkpoint},
    OptionSpec{"resume", "Long work",
               "Go on from the checkpoint of an interrupted run with the same input, model and options", "",
               &Options::resume},
    OptionSpec{"max-line-width", "Subtitles", "Most characters in a line of a subtitle", "",
               &Options::max_line_width, 8, 1000},
    OptionSpec{"max-lines", "Subtitles", "Most lines in a subtitle", "", &Options::max_lines, 1, 10},
    OptionSpec{"max-cps", "Subtitles",
               "Reading speed: most characters a second; subtitles are shown longer where there is room", "",
               &Options::max_cps, 1, 1000},
    OptionSpec{"highlight-words", "Subtitles",
               "Mark each word while it is spoken (srt, vtt, ass); needs word-timestamps", "",
               &Options::highlight_words},
    OptionSpec{"suppress-blank", "Symbols",
               "Do not let a window's text begin with a space alone, or be empty", "",
               &Options::suppress_blank},
    OptionSpec{"suppress-tokens", "Symbols",
               "Token ids never to be written, comma-separated; -1 stands for the model's own list of "
               "symbols that are not speech; empty: none",
               "", &Options::suppress_tokens},
    OptionSpec{"track", "Audio", "Which audio track of a file with several, counted from 0", "",
               &Options::track, 0, 1000},
    OptionSpec{"channel", "Audio", "Take one channel, counted from 0; -1 mixes all channels", "",
               &Options::channel, -1, 255},
    OptionSpec{"vad", "Audio",
               "Leave out long stretches without speech before the model listens: faster, and no invented "
               "text there",
               "", &Options::vad},
    OptionSpec{"vad-threshold", "Audio", "Speech probability above which sound counts as speech", "",
               &Options::vad_threshold, 0, 1},
    OptionSpec{"vad-min-speech-duration-ms", "Audio", "Shorter bursts of speech are dropped", "",
               &Options::vad_min_speech_duration_ms, 0, 60000},
    OptionSpec{"vad-max-speech-duration-s", "Audio",
               "Longer stretches of speech are cut at their quietest place; 0: never", "",
               &Options::vad_max_speech_duration_s, 0, 100000},
    OptionSpec{"vad-min-silence-duration-ms", "Audio", "Shorter pauses stay part of the speech around them",
               "", &Options::vad_min_silence_duration_ms, 0, 60000},
    OptionSpec{"vad-speech-pad-ms", "Audio", "Sound kept before and after each stretch of speech", "",
               &Options::vad_speech_pad_ms, 0, 10000},
};

const OptionSpec& spec_of(std::string_view name) {
  for (const OptionSpec& spec : kSpecs)
    if (spec.name == name) return spec;
  throw Error(ErrorCode::usage, "there is no option '{}'", name);
}

void require_choice(const OptionSpec& spec, std::string_view value) {
  if (spec.choices.empty()) return;
  const std::string_view choice = spec.numbered ? value.substr(0, value.find(':')) : value;
  std::string_view rest = spec.choices;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == choice) return;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  throw Error(ErrorCode::usage, "option '{}' does not take '{}'; it takes one of {}", spec.name, value,
              spec.choices);
}

template <class Number>
Number parse_number(const OptionSpec& spec, std::string_view value) {
  Number number{};
  const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (problem != std::errc() || end != value.data() + value.size())
    throw Error(ErrorCode::usage, "option '{}' takes a {}number, not '{}'", spec.name,
                std::is_integral_v<Number> ? "whole " : "", value);
  if (!std::isfinite(static_cast<double>(number)) ||
      (spec.lowest < spec.highest && (number < spec.lowest || number > spec.highest)))
    throw Error(ErrorCode::usage, "option '{}' takes {} to {}, not {}", spec.name, spec.lowest, spec.highest,
                value);
  return number;
}

bool parse_bool(const OptionSpec& spec, std::string_view value) {
  for (const std::string_view yes : {"true", "1", "yes", "on"})
    if (value == yes) return true;
  for (const std::string_view no : {"false", "0", "no", "off"})
    if (value == no) return false;
  throw Error(ErrorCode::usage, "option '{}' takes true or false, not '{}'", spec.name, value);
}

}  // namespace

std::span<const OptionSpec> option_specs() noexcept {
  return kSpecs;
}

void set_option(Options& options, std::string_view name, std::string_view value) {
  const OptionSpec& spec = spec_of(name);
  std::visit(
      [&](auto member) {
        using Value = std::remove_cvref_t<decltype(options.*member)>;
        if constexpr (std::is_same_v<Value, bool>) {
          options.*member = parse_bool(spec, value);
        } else if constexpr (std::is_same_v<Value, std::string>) {
          require_choice(spec, value);
          options.*member = std::string(value);
        } else {
          options.*member = parse_number<Value>(spec, value);
        }
      },
      spec.member);
}

std::string get_option(const Options& options, std::string_view name) {
  return std::visit(
      [&](auto member) -> std::string {
        using Value = std::remove_cvref_t<decltype(options.*member)>;
        if constexpr (std::is_same_v<Value, bool>) {
          return options.*member ? "true" : "false";
        } else if constexpr (std::is_same_v<Value, std::string>) {
          return options.*member;
        } else {
          return fmt::format("{}", options.*member);
        }
      },
      spec_of(name).member);
}

}  // namespace sotto
