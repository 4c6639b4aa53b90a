#include "whisper/timestamp_rules.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace sotto {
namespace {

// A vocabulary of 200: text 0..99, end 100, no-timestamps 101, times 110..199.
constexpr int kVocabulary = 200;
constexpr TokenId kBegin = 110;

bool allowed(std::vector<TokenId> written, TokenId token, int max_initial = 50) {
  SpecialTokens special;
  special.end = 100;
  special.no_timestamps = 101;
  special.first_timestamp = kBegin;
  std::vector<TokenRange> banned;
  timestamp_rules(special, kVocabulary, written, max_initial, banned);
  return std::none_of(banned.begin(), banned.end(),
                      [&](const TokenRange& range) { return token >= range.first && token < range.last; });
}

TEST(TimestampRules, AWindowOpensWithAnEarlyTime) {
  EXPECT_FALSE(allowed({}, 5));
  EXPECT_FALSE(allowed({}, 100));
  EXPECT_TRUE(allowed({}, kBegin));
  EXPECT_TRUE(allowed({}, kBegin + 50));
  EXPECT_FALSE(allowed({}, kBegin + 51));
  EXPECT_TRUE(allowed({}, kBegin + 20, 20));
  EXPECT_FALSE(allowed({}, kBegin + 21, 20));
}

TEST(TimestampRules, TextFollowsAnOpeningTime) {
  EXPECT_TRUE(allowed({kBegin}, 5));
  EXPECT_FALSE(allowed({kBegin}, kBegin + 3));
  EXPECT_TRUE(allowed({kBegin}, 100));
  EXPECT_FALSE(allowed({kBegin}, 101));
}

TEST(TimestampRules, AClosingTimeIsFollowedByAnOpeningOneOrTheEnd) {
  const std::vector<TokenId> closed{kBegin, 5, kBegin + 10};
  EXPECT_FALSE(allowed(closed, 5));
  EXPECT_TRUE(allowed(closed, 100));
  EXPECT_TRUE(allowed(closed, kBegin + 10));  // the next one may begin where the last one ended
  EXPECT_FALSE(allowed(closed, kBegin + 9));
  EXPECT_TRUE(allowed(closed, kBegin + 11));
}

TEST(TimestampRules, TimesNeverGoBackAndSegmentsHaveALength) {
  const std::vector<TokenId> open{kBegin, 5, kBegin + 10, kBegin + 12, 6};
  EXPECT_FALSE(allowed(open, kBegin + 12));
  EXPECT_TRUE(allowed(open, kBegin + 13));
  EXPECT_TRUE(allowed(open, 7));
}

}  // namespace
}  // namespace sotto
