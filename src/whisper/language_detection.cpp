#include "whisper/language_detection.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"

namespace sotto {

LanguageQuestion::LanguageQuestion(const Tokenizer& tokenizer, std::span<const TokenId> allowed) {
  for (const Tokenizer::Language& language : tokenizer.languages())
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), language.token) != allowed.end())
      languages_.push_back(language);
  if (languages_.empty())
    throw Error(ErrorCode::unsupported,
                "this model has no language tokens, so it cannot tell languages apart");
  TokenId next = 0;
  for (const Tokenizer::Language& language : languages_) {
    if (language.token > next) banned_.push_back({next, language.token});
    next = language.token + 1;
  }
  if (next < tokenizer.size()) banned_.push_back({next, tokenizer.size()});
}

SampleRequest LanguageQuestion::request() const {
  SampleRequest request;
  request.banned = banned_;
  request.candidates = static_cast<int>(languages_.size());
  return request;
}

std::vector<LanguageProbability> LanguageQuestion::answer(const SampleResult& result) const {
  std::vector<LanguageProbability> found;
  for (const Candidate& candidate : result.candidates) {
    const auto language = std::find_if(languages_.begin(), languages_.end(),
                                       [&](const auto& l) { return l.token == candidate.token; });
    found.push_back(
        {language->code, candidate.token, std::exp(static_cast<double>(candidate.log_probability))});
  }
  return found;
}

std::vector<LanguageProbability> detect_language(Session& session, const Tokenizer& tokenizer, int window,
                                                 int slot) {
  const LanguageQuestion question(tokenizer, {});
  const std::array rows{DecodeRow{tokenizer.special().start, 0, slot, window}};
  const std::array points{SamplePoint{0, question.request()}};
  return question.answer(session.decode(rows, points).front());
}

}  // namespace sotto
