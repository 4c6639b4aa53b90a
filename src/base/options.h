#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace sotto {

// Everything a user can choose about a transcription. Names, defaults and meaning follow the reference implementation.
// A new option is a member here and a line in options.cpp; the program, the C API and docs/options.md follow.
struct Options {
  // model and device
  std::string model;
  std::string device = "auto";
  std::string compute_type = "auto";
  int threads = 0;
  // decoding
  std::string language = "auto";
  std::string task = "transcribe";
  bool without_timestamps = false;
  std::string initial_prompt;
  bool condition_on_previous_text = true;
  double no_speech_threshold = 0.6;
  double log_prob_threshold = -1.0;
  double max_initial_timestamp = 1.0;
  bool suppress_blank = true;
  std::string suppress_tokens = "-1";
  int max_new_tokens = 0;
  // audio
  int track = 0;
  int channel = -1;
};

struct OptionSpec {
  std::string_view name;
  std::string_view group;
  std::string_view help;
  std::string_view choices;  // comma-separated; empty: anything of the type
  std::variant<bool Options::*, int Options::*, double Options::*, std::string Options::*> member;
  double lowest = 0, highest = 0;  // for numbers; equal: no limits
};

std::span<const OptionSpec> option_specs() noexcept;

// Text in, text out; bad names and values throw Error(usage) with what would be right.
void set_option(Options& options, std::string_view name, std::string_view value);
std::string get_option(const Options& options, std::string_view name);

}  // namespace sotto
