#include "whisper/search.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "whisper/timestamp_rules.h"

namespace sotto {
namespace {

// A uniform number in [0, 1) that depends on nothing but its arguments, so that a seed reproduces a run
// exactly whatever else the machine does (the finaliser of splitmix64).
double uniform(uint64_t seed, uint64_t sample, uint64_t step) {
  uint64_t x = seed + 0x9e3779b97f4a7c15u * (1 + step + (sample << 32));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53;
}

// Tokens that would complete a run of n tokens which has been written before.
void ban_repeated_runs(std::span<const TokenId> written, int n, std::vector<TokenId>& banned) {
  const auto length = static_cast<size_t>(n);
  if (n <= 0 || written.size() < length) return;
  const auto tail = written.last(length - 1);
  for (size_t i = 0; i + length <= written.size(); ++i)
    if (std::equal(tail.begin(), tail.end(), written.begin() + static_cast<ptrdiff_t>(i)))
      banned.push_back(written[i + length - 1]);
}

}  // namespace

void DecodeCall::clear() {
  copies.clear();
  rows.clear();
  points.clear();
}

std::vector<SampleResult> DecodeCall::run(Session& session) const {
  for (const Copy& copy : copies) session.copy_slot(copy.from, copy.to, copy.positions);
  return session.decode(rows, points);
}

Search::Search(const Tokenizer& tokenizer, const ModelConfig& config, SearchSettings settings,
               std::vector<int> slots, int window)
    : tokenizer_(tokenizer),
      settings_(std::move(settings)),
      slots_(std::move(slots)),
      window_(window),
      vocabulary_(config.vocabulary) {
  const size_t positions = static_cast<size_t>(config.text_positions), half = positions / 2;
  if (!settings_.prompt.empty() && tokenizer.special().start_of_prompt != SpecialTokens::none) {
    const size_t kept = std::min(settings_.prompt.size(), half - 1);
    input_.push_back(tokenizer.special().start_of_prompt);
    input_.insert(input_.end(), settings_.prompt.end() - static_cast<ptrdiff_t>(kept),
                  settings_.prompt.end());
  }
  start_index_ = input_.size();
  input_.insert(input_.end(), settings_.start.begin(), settings_.start.end());

  const size_t wanted = settings_.max_new_tokens > 0 ? static_cast<size_t>(settings_.max_new_tokens) : half;
  max_new_tokens_ = std::min(wanted, positions - input_.size());
  Hypothesis first;
  first.tokens.assign(settings_.prefix.begin(),
                      settings_.prefix.begin() +
                          static_cast<ptrdiff_t>(std::min(settings_.prefix.size(), max_new_tokens_ - 1)));
  live_.push_back(std::move(first));
  live_.front().slot = slots_.front();
}

SampleRequest Search::request_for(const Hypothesis& hypothesis, size_t index) {
  auto& storage = *storage_.emplace_back(std::make_unique<RequestStorage>());
  const std::span<const TokenId> written = hypothesis.tokens;
  SampleRequest request;
  storage.suppressed = settings_.suppressed;
  if (written.empty())
    storage.suppressed.insert(storage.suppressed.end(), settings_.begin_suppressed.begin(),
                              settings_.begin_suppressed.end());
  ban_repeated_runs(written, settings_.no_repeat_ngram, storage.suppressed);
  request.suppressed = storage.suppressed;
  if (settings_.timestamps) {
    timestamp_rules(tokenizer_.special(), vocabulary_, written, settings_.max_initial_timestamp,
                    storage.banned);
    request.timestamp_begin = tokenizer_.special().first_timestamp;
  }
  request.banned = storage.banned;
  if (settings_.repetition_penalty != 1) {
    storage.penalised.assign(written.begin(), written.end());
    std::sort(storage.penalised.begin(), storage.penalised.end());
    storage.penalised.erase(std::unique(storage.penalised.begin(), storage.penalised.end()),
                            storage.penalised.end());
    request.penalised = storage.penalised;
    request.penalty = static_cast<float>(settings_.repetition_penalty);
  }
  if (sampling()) {
    request.temperature = static_cast<float>(settings_.temperature);
    request.uniform = uniform(settings_.seed, index, written.size());
  } else {
    request.candidates = settings_.beams == 1 ? 1 : settings_.beams + 1;
  }
  return request;
}

void Search::plan_first_call(DecodeCall& call) {
  const Hypothesis& first = live_.front();
  const size_t first_row = call.rows.size();
  const auto add_row = [&](TokenId token) {
    call.rows.push_back({token, static_cast<int32_t>(call.rows.size() - first_row), first.slot, window_});
  };
  for (const TokenId token : input_) add_row(token);
  for (const TokenId token : first.tokens) add_row(token);

  SampleRequest no_speech;
  no_speech.probe = tokenizer_.special().no_speech;
  call.points.push_back({first_row + start_index_, no_speech});
  // All independent samples draw from the same row; beams take its best tokens.
  const size_t draws = sampling() ? slots_.size() : 1;
  for (size_t i = 0; i < draws; ++i) call.points.push_back({call.rows.size() - 1, request_for(first, i)});
}

void Search::plan(DecodeCall& call) {
  storage_.clear();
  if (!started_) return plan_first_call(call);
  call.copies.insert(call.copies.end(), copies_.begin(), copies_.end());
  copies_.clear();
  for (const Hypothesis& hypothesis : live_) {
    const auto position = static_cast<int32_t>(input_.size() + hypothesis.tokens.size() - 1);
    call.rows.push_back({hypothesis.tokens.back(), position, hypothesis.slot, window_});
    const auto index = std::find(slots_.begin(), slots_.end(), hypothesis.slot) - slots_.begin();
    call.points.push_back({call.rows.size() - 1, request_for(hypothesis, static_cast<size_t>(index))});
  }
}

size_t Search::accept(std::span<const SampleResult> results) {
  size_t used = live_.size();
  if (!started_) {
    no_speech_probability_ = results.front().probe_probability;
    used = sampling() ? slots_.size() : 1;
    results = results.subspan(1);
    // The prompt's keys and values are needed by every hypothesis that follows.
    const auto filled = static_cast<int>(input_.size() + live_.front().tokens.size());
    if (sampling()) {
      live_.resize(slots_.size(), live_.front());
      for (size_t i = 1; i < slots_.size(); ++i) {
        live_[i].slot = slots_[i];
        copies_.push_back({slots_[0], slots_[i], filled});
      }
    }
  }
  if (sampling() || settings_.beams == 1) {
    accept_independent(results.first(used));
  } else {
    accept_beams(results.first(used));
  }
  const size_t total = used + (started_ ? 0 : 1);
  started_ = true;
  return total;
}

void Search::append_token(Hypothesis& hypothesis, const Candidate& candidate) const {
  hypothesis.sum += candidate.log_probability;
  if (candidate.token == tokenizer_.special().end) {
    hypothesis.ended = true;
  } else {
    hypothesis.tokens.push_back(candidate.token);
  }
}

void Search::accept_independent(std::span<const SampleResult> results) {
  std::vector<Hypothesis> next;
  for (size_t i = 0; i < live_.size(); ++i) {
    Hypothesis& hypothesis = live_[i];
    if (results[i].candidates.empty()) {  // every token is forbidden: only the end is left
      hypothesis.ended = true;
    } else {
      append_token(hypothesis, results[i].candidates.front());
    }
    const bool over = hypothesis.ended || hypothesis.tokens.size() >= max_new_tokens_;
    (over ? done_ : next).push_back(std::move(hypothesis));
  }
  live_ = std::move(next);
  // A copy into the slot of a sample that has already ended is not needed.
  std::erase_if(copies_, [&](const DecodeCall::Copy& copy) {
    return std::none_of(live_.begin(), live_.end(), [&](const Hypothesis& h) { return h.slot == copy.to; });
  });
  finished_ = live_.empty();
}

void Search::accept_beams(std::span<const SampleResult> results) {
  struct Choice {
    double sum;
    size_t parent;
    Candidate candidate;
  };
  std::vector<Choice> choices;
  for (size_t i = 0; i < live_.size(); ++i)
    for (const Candidate& candidate : results[i].candidates)
      choices.push_back({live_[i].sum + candidate.log_probability, i, candidate});
  std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) {
    return std::tuple(-a.sum, a.parent, a.candidate.token) < std::tuple(-b.sum, b.parent, b.candidate.token);
  });

  const auto beams = static_cast<size_t>(settings_.beams);
  std::vector<Hypothesis> next;
  std::vector<size_t> parents;
  for (const Choice& choice : choices) {
    if (next.size() == beams) break;
    Hypothesis hypothesis = live_[choice.parent];
    append_token(hypothesis, choice.candidate);
    if (hypothesis.ended) {
      done_.push_back(std::move(hypothesis));
    } else {
      next.push_back(std::move(hypothesis));
      parents.push_back(choice.parent);
    }
  }

  // The first child of a parent goes on in its slot; further children get a copy in a slot that has become
  // free.
  std::vector<int> free = slots_;
  std::vector<bool> kept(live_.size(), false);
  std::vector<size_t> homeless;
  for (size_t i = 0; i < next.size(); ++i) {
    if (kept[parents[i]]) {
      homeless.push_back(i);
    } else {
      kept[parents[i]] = true;
      std::erase(free, next[i].slot);
    }
  }
  for (const size_t i : homeless) {
    const auto filled = static_cast<int>(input_.size() + next[i].tokens.size() - 1);
    copies_.push_back({next[i].slot, free.back(), filled});
    next[i].slot = free.back();
    free.pop_back();
  }
  live_ = std::move(next);

  const auto enough =
      static_cast<size_t>(std::max<long>(1, std::lround(settings_.beams * settings_.patience)));
  finished_ = done_.size() >= enough || live_.empty() || live_.front().tokens.size() >= max_new_tokens_;
  if (finished_ && done_.size() < beams) done_.insert(done_.end(), live_.begin(), live_.end());
}

double Search::score(const Hypothesis& hypothesis) const {
  return hypothesis.sum /
         std::pow(static_cast<double>(hypothesis.tokens.size() + 1), settings_.length_penalty);
}

SearchResult Search::result() const {
  const auto best =
      std::max_element(done_.begin(), done_.end(),
                       [&](const Hypothesis& a, const Hypothesis& b) { return score(a) < score(b); });
  return {best->tokens, best->sum, best->sum / static_cast<double>(best->tokens.size() + 1),
          no_speech_probability_};
}

bool run_search(Session& session, Search& search, FunctionRef<bool()> should_stop) {
  DecodeCall call;
  while (!search.finished()) {
    if (should_stop()) return false;
    call.clear();
    search.plan(call);
    const auto results = call.run(session);
    search.accept(results);
  }
  return true;
}

}  // namespace sotto
