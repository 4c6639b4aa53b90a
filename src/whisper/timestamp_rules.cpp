#include "whisper/timestamp_rules.h"

#include <algorithm>

namespace sotto {

void timestamp_rules(const SpecialTokens& special, int vocabulary, std::span<const TokenId> written,
                     int max_initial, std::vector<TokenRange>& banned) {
  const TokenId begin = special.first_timestamp;
  const auto is_timestamp = [&](TokenId token) { return token >= begin; };
  banned.push_back({special.no_timestamps, special.no_timestamps + 1});

  if (written.empty()) {  // a window begins with a time, and an early one
    banned.push_back({0, begin});
    if (begin + max_initial + 1 < vocabulary) banned.push_back({begin + max_initial + 1, vocabulary});
    return;
  }

  // Times come in pairs, end and next start, except before the end of the text.
  const bool last = is_timestamp(written.back());
  const bool before_last = written.size() < 2 || is_timestamp(written[written.size() - 2]);
  if (last && before_last) banned.push_back({begin, vocabulary});
  if (last && !before_last) banned.push_back({0, special.end});

  // Times never go back, and a segment that has begun does not end where it began.
  const auto newest = std::find_if(written.rbegin(), written.rend(), is_timestamp);
  if (newest != written.rend()) banned.push_back({begin, last && !before_last ? *newest : *newest + 1});
}

}  // namespace sotto
