#include "base/options.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::array kSpecs{
    OptionSpec{"model", "Model", "Model file or folder, or the name of one kept on this machine; empty: the built-in demonstration model", "", &Options::model},
    OptionSpec{"device", "Model", "Where to compute", "auto,cpu", &Options::device},
    OptionSpec{"compute-type", "Model", "Number format of the weights; auto is int8 on the CPU", "auto,float32,float16,bfloat16,int8,int8_float32,int8_float16", &Options::compute_type},
    OptionSpec{"threads", "Model", "CPU threads; 0: one per physical core", "", &Options::threads, 0, 1024},
    OptionSpec{"language", "Decoding", "Spoken language as code or English name (de, german); auto: detect it from the first 30 seconds", "", &Options::language},
    OptionSpec{"task", "Decoding", "transcribe keeps the language, translate writes English", "transcribe,translate", &Options::task},
    OptionSpec{"without-timestamps", "Decoding", "Do not let the model place times inside a 30-second window; segments are then whole windows", "", &Options::without_timestamps},
    OptionSpec{"initial-prompt", "Decoding", "Text that the model takes as spoken before the audio: names, spelling, style", "", &Options::initial_prompt},
    OptionSpec{"condition-on-previous-text", "Decoding", "Give the model the text of the window before; off makes a repetition loop less likely, and names less consistent", "", &Options::condition_on_previous_text},
    OptionSpec{"no-speech-threshold", "Decoding", "A window whose no-speech probability is above this and whose text is unlikely counts as silence", "", &Options::no_speech_threshold, 0, 1},
    OptionSpec{"log-prob-threshold", "Decoding", "Average log-probability below which a text counts as unlikely", "", &Options::log_prob_threshold, -100, 0},
    OptionSpec{"max-initial-timestamp", "Decoding", "The first text of a window starts at most this many seconds into it", "", &Options::max_initial_timestamp, 0, 30},
    OptionSpec{"suppress-blank", "Decoding", "Do not let a window's text begin with a space alone or its end", "", &Options::suppress_blank},
    OptionSpec{"suppress-tokens", "Decoding", "Token ids never to be written, comma-separated; -1 stands for the model's own list of symbols that are not speech; empty: none", "", &Options::suppress_tokens},
    OptionSpec{"max-new-tokens", "Decoding", "Most tokens for one window; 0: as many as the model has room for", "", &Options::max_new_tokens, 0, 448},
    OptionSpec{"track", "Audio", "Which audio track of a file with several, counted from 0", "", &Options::track, 0, 1000},
    OptionSpec{"channel", "Audio", "Take one channel, counted from 0; -1 mixes all channels", "", &Options::channel, -1, 255},
};

const OptionSpec& spec_of(std::string_view name) {
  for (const OptionSpec& spec : kSpecs)
    if (spec.name == name) return spec;
  throw Error(ErrorCode::usage, "there is no option '{}'", name);
}

void require_choice(const OptionSpec& spec, std::string_view value) {
  if (spec.choices.empty()) return;
  std::string_view rest = spec.choices;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == value) return;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  throw Error(ErrorCode::usage, "option '{}' does not take '{}'; it takes one of {}", spec.name, value, spec.choices);
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
    throw Error(ErrorCode::usage, "option '{}' takes {} to {}, not {}", spec.name, spec.lowest, spec.highest, value);
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

std::span<const OptionSpec> option_specs() noexcept { return kSpecs; }

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
