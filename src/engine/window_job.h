#pragma once

#include <optional>
#include <vector>

#include "audio/mel.h"
#include "whisper/language_detection.h"
#include "whisper/search.h"

namespace sotto {

// Everything that one window's decoding needs. The language and task tokens are put behind
// <|startoftranscript|> by the job, since the language may have to be found first.
struct WindowRequest {
  std::vector<float> mel;  // mel_frames x mel_bins, or
  WindowSamples audio;     // what it is made of, for a device that does that itself
  SearchSettings search;   // without `start`; temperature and seed are set per attempt
  TokenId language = SpecialTokens::none;
  TokenId task = SpecialTokens::none;
  bool detect_language = false;            // replaces `language`
  bool detect_only = false;                // and then nothing more
  std::vector<TokenId> allowed_languages;  // empty: all

  // Attempts, in order, until one is good enough. Where the first is not and there is a prompt, it is tried
  // again without: the text before is what most often leads a model into a loop.
  std::vector<double> temperatures{0};
  int samples = 1;  // at temperatures above 0
  double compression_ratio_threshold = 2.4;
  double log_prob_threshold = -1;
  double no_speech_threshold = 0.6;

  bool align = false;  // also return the alignment of the text with the audio
  std::vector<std::pair<int, int>> alignment_heads;

  int slots() const;  // that the most demanding attempt needs
};

struct WindowResult {
  SearchResult search;
  double temperature = 0;  // of the attempt that was taken
  int attempts = 0;
  bool context_dropped = false;  // the prompt led the model astray and was left out
  double compression_ratio = 0;
  std::vector<LanguageProbability> languages;  // where detection was asked for, likeliest first
  std::vector<TokenId> start;                  // the start tokens that were used
  std::optional<Alignment> alignment;
};

// The decoding of one window: language, attempts at rising temperatures, alignment. A machine like Search, so
// that many windows share the decoder's calls.
class WindowJob {
 public:
  WindowJob(const Tokenizer& tokenizer, const ModelConfig& config, WindowRequest request,
            std::vector<int> slots, int window);

  bool finished() const noexcept { return stage_ == Stage::finished; }
  void plan(DecodeCall& call);
  size_t accept(std::span<const SampleResult> results);

  // After the last call: whether the session is to be asked for the alignment, and that question.
  bool wants_alignment() const noexcept;
  void align(Session& session);

  WindowResult take_result() { return std::move(result_); }

 private:
  enum class Stage { language, search, finished };

  void begin_search();
  void judge_attempt();

  const Tokenizer& tokenizer_;
  const ModelConfig& config_;
  WindowRequest request_;
  const std::vector<int> slots_;
  const int window_;
  Stage stage_;
  std::optional<LanguageQuestion> question_;
  std::unique_ptr<Search> search_;
  size_t attempt_ = 0;
  bool has_candidate_ = false;  // result_ holds an attempt that may be the one to take
  WindowResult result_;
};

}  // namespace sotto
