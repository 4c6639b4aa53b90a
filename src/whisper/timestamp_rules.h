#pragma once

#include <span>
#include <vector>

#include "backend/backend.h"
#include "whisper/tokenizer.h"

namespace sotto {

// Appends the ranges of tokens that the reference's timestamp rules forbid after `written`. `max_initial` is
// the index of the latest time that may open a window.
void timestamp_rules(const SpecialTokens& special, int vocabulary, std::span<const TokenId> written,
                     int max_initial, std::vector<TokenRange>& banned);

}  // namespace sotto
