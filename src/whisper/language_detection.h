#pragma once

#include <span>
#include <string>
#include <vector>

#include "whisper/network.h"
#include "whisper/tokenizer.h"

namespace sotto {

struct LanguageProbability {
  std::string code;
  TokenId token = 0;
  double probability = 0;
};

// What to ask the model for the language of a window: which of the language tokens follows
// <|startoftranscript|>.
class LanguageQuestion {
 public:
  // `allowed` limits the answer to these tokens; empty: all languages of the model. Throws Error(unsupported)
  // when the model has no languages.
  LanguageQuestion(const Tokenizer& tokenizer, std::span<const TokenId> allowed);

  SampleRequest request() const;

  // Likeliest first; the probabilities of the allowed languages add up to 1.
  std::vector<LanguageProbability> answer(const SampleResult& result) const;

 private:
  std::vector<Tokenizer::Language> languages_;  // by token
  std::vector<TokenRange> banned_;              // everything else
};

// Asks at once, about an encoded window, with the help of a slot's cache.
std::vector<LanguageProbability> detect_language(Session& session, const Tokenizer& tokenizer, int window,
                                                 int slot);

}  // namespace sotto
