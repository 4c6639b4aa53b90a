#pragma once

#include <vector>

#include "base/options.h"
#include "engine/loaded_model.h"
#include "engine/window_job.h"

namespace sotto {

// A user's options, checked against the model and turned into what each window's decoding needs.
class DecodingPlan {
 public:
  // Throws Error(usage) or Error(unsupported) for a wish that makes no sense or that the model cannot fulfil.
  DecodingPlan(const LoadedModel& model, const Options& options);

  // The request for one window. `context` is the text before it; `first` says whether it opens the
  // transcript.
  WindowRequest request(std::vector<float> mel, std::span<const TokenId> context, bool first) const;

  bool language_is_open() const noexcept { return open_language_; }
  std::vector<TokenId> opening_context()
      const;  // the initial prompt, where it is not carried to every window

 private:
  std::vector<TokenId> prompt(std::span<const TokenId> context) const;

  const Tokenizer& tokenizer_;
  WindowRequest base_;
  bool open_language_ = false;
  std::vector<TokenId> initial_prompt_, hotwords_, prefix_;
  bool carry_initial_prompt_;
  size_t prompt_room_, context_room_;
};

}  // namespace sotto
