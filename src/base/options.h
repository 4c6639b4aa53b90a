#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace sotto {

// Everything a user can choose about a transcription. Names, defaults and meaning follow the reference
// implementation. A new option is a member here and a line in options.cpp; the program, the C API and
// docs/options.md follow.
struct Options {
  // model and device
  std::string model;
  std::string device = "auto";
  std::string compute_type = "auto";
  bool fallback = true;
  double probe_timeout = 5;
  int threads = 0;
  int batch_size = 4;
  double keep_alive = -1;
  bool flash_attn = true;
  // language and task
  std::string language = "auto";
  std::string languages;
  int language_detection_segments = 1;
  double language_detection_threshold = 0.5;
  bool multilingual = false;
  std::string task = "transcribe";
  // search
  std::string temperature = "0,0.2,0.4,0.6,0.8,1";
  int beam_size = 5;
  int best_of = 5;
  double patience = 1;
  double length_penalty = 1;
  double repetition_penalty = 1;
  int no_repeat_ngram_size = 0;
  int seed = 0;
  double compression_ratio_threshold = 2.4;
  double log_prob_threshold = -1.0;
  double no_speech_threshold = 0.6;
  int max_new_tokens = 0;
  // context
  std::string initial_prompt;
  bool carry_initial_prompt = false;
  std::string prefix;
  std::string hotwords;
  bool condition_on_previous_text = true;
  double prompt_reset_on_temperature = 0.5;
  int max_context = -1;
  // times
  std::string mode = "sequential";
  bool without_timestamps = false;
  double max_initial_timestamp = 1.0;
  bool word_timestamps = false;
  std::string prepend_punctuations = "\"'\xe2\x80\x9c\xc2\xbf([{-";
  std::string append_punctuations =
      "\"'.\xe3\x80\x82,\xef\xbc\x8c!\xef\xbc\x81?\xef\xbc\x9f:\xef\xbc\x9a\xe2\x80\x9d)]}\xe3\x80\x81";
  // long work
  std::string checkpoint;
  bool resume = false;
  // subtitles
  int max_line_width = 42;
  int max_lines = 2;
  double max_cps = 20;
  bool highlight_words = false;
  // symbols
  bool suppress_blank = true;
  std::string suppress_tokens = "-1";
  // audio
  int track = 0;
  int channel = -1;
  bool vad = true;
  double vad_threshold = 0.5;
  int vad_min_speech_duration_ms = 250;
  double vad_max_speech_duration_s = 0;
  int vad_min_silence_duration_ms = 2000;
  int vad_speech_pad_ms = 400;
};

struct OptionSpec {
  std::string_view name;
  std::string_view group;
  std::string_view help;
  std::string_view choices;  // comma-separated; empty: anything of the type
  std::variant<bool Options::*, int Options::*, double Options::*, std::string Options::*> member;
  double lowest = 0, highest = 0;  // for numbers; equal: no limits
  bool numbered = false;           // a choice may be followed by ":" and which one: "cuda:1"
};

std::span<const OptionSpec> option_specs() noexcept;

// Text in, text out; bad names and values throw Error(usage) with what would be right.
void set_option(Options& options, std::string_view name, std::string_view value);
std::string get_option(const Options& options, std::string_view name);

}  // namespace sotto
