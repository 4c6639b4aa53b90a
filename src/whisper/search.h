#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "whisper/network.h"
#include "whisper/tokenizer.h"

namespace sotto {

// How the text of one window is searched for. Token lists are complete: nothing is looked up later.
struct SearchSettings {
  std::vector<TokenId> prompt;            // text before this window; only its end is used when it is long
  std::vector<TokenId> start;             // <|startoftranscript|>, language, task, perhaps <|notimestamps|>
  std::vector<TokenId> prefix;            // text that the window must begin with
  std::vector<TokenId> suppressed;        // never written
  std::vector<TokenId> begin_suppressed;  // not as the first token
  bool timestamps = true;
  int max_initial_timestamp = 50;  // index of the latest first timestamp
  int max_new_tokens = 0;          // 0: half the model's text positions

  int beams = 1;                  // hypotheses of a beam search; 1: greedy. Used at temperature 0
  double patience = 1;            // a beam search ends after beams x patience finished hypotheses
  double length_penalty = 1;      // score = sum of log-probabilities / length^penalty
  double temperature = 0;         // above 0: sampling
  int samples = 1;                // independent samples, of which the best is taken
  uint64_t seed = 0;              // of the sampling
  double repetition_penalty = 1;  // above 1: tokens already written become less likely
  int no_repeat_ngram = 0;        // above 0: no run of this many tokens is written twice

  int slots() const noexcept { return temperature > 0 ? samples : beams; }  // that the search needs
};

struct SearchResult {
  std::vector<TokenId> tokens;     // written by the model (and the prefix), without the end token
  double sum_log_probability = 0;  // with the end token
  double average_log_probability = 0;
  double no_speech_probability = 0;
};

// What the searches of one decoder call want from the session, in this order.
struct DecodeCall {
  struct Copy {
    int from, to, positions;
  };
  std::vector<Copy> copies;
  std::vector<DecodeRow> rows;
  std::vector<SamplePoint> points;

  void clear();
  std::vector<SampleResult> run(Session& session) const;
};

// The search for one window's text, as a machine that a driver turns: it names the rows to run and takes the
// results. Any number of searches can share the decoder calls of a session; each one's result does not depend
// on the others.
class Search {
 public:
  // `slots` are settings.slots() slots of the session that belong to this search alone.
  Search(const Tokenizer& tokenizer, const ModelConfig& config, SearchSettings settings,
         std::vector<int> slots, int window);

  bool finished() const noexcept { return finished_; }

  // Appends what the next call is to run.
  void plan(DecodeCall& call);

  // Takes this search's results of that call, and returns how many they were.
  size_t accept(std::span<const SampleResult> results);

  SearchResult result() const;

 private:
  struct Hypothesis {
    std::vector<TokenId> tokens;
    double sum = 0;
    int slot = 0;
    bool ended = false;  // by the end token
  };
  struct RequestStorage {  // what a running call's request points to
    std::vector<TokenId> suppressed;
    std::vector<TokenRange> banned;
    std::vector<TokenId> penalised;
  };

  bool sampling() const noexcept { return settings_.temperature > 0; }
  SampleRequest request_for(const Hypothesis& hypothesis, size_t index);
  void plan_first_call(DecodeCall& call);
  void accept_independent(std::span<const SampleResult> results);
  void accept_beams(std::span<const SampleResult> results);
  void append_token(Hypothesis& hypothesis, const Candidate& candidate) const;
  double score(const Hypothesis& hypothesis) const;

  const Tokenizer& tokenizer_;
  const SearchSettings settings_;
  const std::vector<int> slots_;
  const int window_, vocabulary_;
  std::vector<TokenId> input_;  // prompt and start tokens
  size_t start_index_ = 0;      // of <|startoftranscript|> in input_
  size_t max_new_tokens_ = 0;

  std::vector<Hypothesis> live_;  // the beams, or the independent samples that have not ended
  std::vector<Hypothesis> done_;
  std::vector<DecodeCall::Copy> copies_;
  std::vector<std::unique_ptr<RequestStorage>> storage_;
  bool started_ = false, finished_ = false;
  double no_speech_probability_ = 0;
};

// Runs one search alone. Asks should_stop between the calls, and returns false when that ended the work
// early.
bool run_search(Session& session, Search& search, FunctionRef<bool()> should_stop);

}  // namespace sotto
