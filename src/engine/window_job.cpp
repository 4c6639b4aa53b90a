#include "engine/window_job.h"

#include <algorithm>

#include "whisper/window_segments.h"

namespace sotto {

int WindowRequest::slots() const {
  const auto is_sampling = [](double temperature) { return temperature > 0; };
  const bool any_sampling = std::any_of(temperatures.begin(), temperatures.end(), is_sampling);
  const bool all_sampling = std::all_of(temperatures.begin(), temperatures.end(), is_sampling);
  if (detect_only) return 1;
  return std::max({1, any_sampling ? samples : 1, all_sampling ? 1 : search.beams});
}

WindowJob::WindowJob(const Tokenizer& tokenizer, const ModelConfig& config, WindowRequest request,
                     std::vector<int> slots, int window)
    : tokenizer_(tokenizer),
      config_(config),
      request_(std::move(request)),
      slots_(std::move(slots)),
      window_(window),
      stage_(request_.detect_language ? Stage::language : Stage::search) {
  if (stage_ == Stage::language) {
    question_.emplace(tokenizer, request_.allowed_languages);
  } else {
    begin_search();
  }
}

void WindowJob::begin_search() {
  stage_ = Stage::search;
  SearchSettings settings = request_.search;
  settings.temperature = request_.temperatures[attempt_];
  settings.samples = request_.samples;
  settings.start = {tokenizer_.special().start};
  for (const TokenId token : {request_.language, request_.task})
    if (token != SpecialTokens::none) settings.start.push_back(token);
  if (!settings.timestamps) settings.start.push_back(tokenizer_.special().no_timestamps);
  result_.start = settings.start;
  std::vector<int> slots(slots_.begin(), slots_.begin() + settings.slots());
  search_ = std::make_unique<Search>(tokenizer_, config_, std::move(settings), std::move(slots), window_);
}

void WindowJob::plan(DecodeCall& call) {
  if (stage_ == Stage::search) return search_->plan(call);
  call.rows.push_back({tokenizer_.special().start, 0, slots_.front(), window_});
  call.points.push_back({call.rows.size() - 1, question_->request()});
}

size_t WindowJob::accept(std::span<const SampleResult> results) {
  if (stage_ == Stage::search) {
    const size_t used = search_->accept(results);
    if (search_->finished()) judge_attempt();
    return used;
  }
  result_.languages = question_->answer(results.front());
  request_.language = result_.languages.front().token;
  if (request_.detect_only) {
    stage_ = Stage::finished;
  } else {
    begin_search();
  }
  return 1;
}

void WindowJob::judge_attempt() {
  const SearchResult found = search_->result();
  const double ratio = compression_ratio(tokenizer_.decode(found.tokens));
  const bool repetitive = ratio > request_.compression_ratio_threshold;
  const bool unlikely = found.average_log_probability < request_.log_prob_threshold;
  const bool silent = found.no_speech_probability > request_.no_speech_threshold && unlikely;
  const bool good = silent || (!repetitive && !unlikely);
  ++result_.attempts;

  // When no attempt is good the likeliest text that does not repeat itself is taken.
  const bool was_repetitive = result_.compression_ratio > request_.compression_ratio_threshold;
  const bool better = !has_candidate_ || (was_repetitive && !repetitive) ||
                      (was_repetitive == repetitive &&
                       found.average_log_probability > result_.search.average_log_probability);
  if (good || better) {
    has_candidate_ = true;
    result_.search = found;
    result_.temperature = request_.temperatures[attempt_];
    result_.compression_ratio = ratio;
  }
  if (!good && !request_.search.prompt.empty()) {
    request_.search.prompt.clear();
    result_.context_dropped = true;
    begin_search();
    return;
  }
  ++attempt_;
  if (good || attempt_ == request_.temperatures.size()) {
    stage_ = Stage::finished;
    search_.reset();
  } else {
    begin_search();
  }
}

bool WindowJob::wants_alignment() const noexcept {
  return request_.align && !request_.detect_only && !result_.search.tokens.empty();
}

void WindowJob::align(Session& session) {
  // The start tokens without times, the words alone, the end: as the reference aligns.
  std::vector<TokenId> text;
  for (const TokenId token : result_.search.tokens)
    if (!tokenizer_.is_special(token) && !tokenizer_.is_timestamp(token)) text.push_back(token);
  std::vector<TokenId> start = result_.start;
  if (start.back() != tokenizer_.special().no_timestamps) start.push_back(tokenizer_.special().no_timestamps);
  std::vector<DecodeRow> rows;
  const auto add_row = [&](TokenId token) {
    rows.push_back({token, static_cast<int32_t>(rows.size()), slots_.front(), window_});
  };
  for (const TokenId token : start) add_row(token);
  for (const TokenId token : text) add_row(token);
  add_row(tokenizer_.special().end);

  std::vector<TokenId> targets;  // of every row up to the last word's
  for (size_t row = 0; row + 1 < rows.size(); ++row) targets.push_back(rows[row + 1].token);
  result_.alignment = session.align(rows, request_.alignment_heads, targets);
}

}  // namespace sotto
