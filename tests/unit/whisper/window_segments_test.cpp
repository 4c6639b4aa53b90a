#include "whisper/window_segments.h"

#include <gtest/gtest.h>

#include "support/checkpoint_tools.h"

namespace sotto {
namespace {

class WindowSegmentsTest : public ::testing::Test {
 protected:
  const Tokenizer tokenizer_{embedded_checkpoint().vocabulary};

  TokenId time(double seconds) const {
    return tokenizer_.special().first_timestamp + static_cast<TokenId>(seconds * 50 + 0.5);
  }
  std::vector<TokenId> tokens(std::initializer_list<std::vector<TokenId>> parts) const {
    std::vector<TokenId> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }
};

TEST_F(WindowSegmentsTest, PairsOfTimesSeparateSegments) {
  const auto text = tokenizer_.encode(" One."), more = tokenizer_.encode(" Two.");
  const auto split =
      split_window(tokenizer_, tokens({{time(0.4)}, text, {time(2.0), time(2.5)}, more, {time(4.0)}}), 3000);
  ASSERT_EQ(split.segments.size(), 2u);
  EXPECT_DOUBLE_EQ(split.segments[0].start, 0.4);
  EXPECT_DOUBLE_EQ(split.segments[0].end, 2.0);
  EXPECT_DOUBLE_EQ(split.segments[1].start, 2.5);
  EXPECT_DOUBLE_EQ(split.segments[1].end, 4.0);
  EXPECT_EQ(split.advance, 3000);  // one closing time: nothing more is in the window
}

TEST_F(WindowSegmentsTest, TextCutByTheWindowIsDecodedAgain) {
  const auto text = tokenizer_.encode(" One."), cut = tokenizer_.encode(" Tw");
  const auto split =
      split_window(tokenizer_, tokens({{time(0.0)}, text, {time(20.0), time(20.0)}, cut}), 3000);
  ASSERT_EQ(split.segments.size(), 1u);
  EXPECT_EQ(split.advance, 2000);
}

TEST_F(WindowSegmentsTest, TimesAtTheEndWithoutTextEndTheWindow) {
  const auto text = tokenizer_.encode(" One.");
  const auto split = split_window(tokenizer_, tokens({{time(0.0)}, text, {time(20.0), time(21.0)}}), 3000);
  ASSERT_EQ(split.segments.size(), 1u);
  EXPECT_EQ(split.advance, 2000);
}

TEST_F(WindowSegmentsTest, NoProgressWouldRepeatForEver) {
  const auto split =
      split_window(tokenizer_, tokens({{time(0.0)}, {time(0.0)}, tokenizer_.encode(" One.")}), 3000);
  EXPECT_EQ(split.advance, 3000);
}

TEST_F(WindowSegmentsTest, WithoutTimesTheWindowIsOneSegment) {
  const auto split = split_window(tokenizer_, tokenizer_.encode(" One."), 420);
  ASSERT_EQ(split.segments.size(), 1u);
  EXPECT_DOUBLE_EQ(split.segments[0].start, 0);
  EXPECT_DOUBLE_EQ(split.segments[0].end, 4.2);
  EXPECT_EQ(split.advance, 420);
}

TEST_F(WindowSegmentsTest, NothingWritten) {
  const auto split = split_window(tokenizer_, {}, 3000);
  ASSERT_EQ(split.segments.size(), 1u);
  EXPECT_TRUE(split.segments[0].tokens.empty());
  EXPECT_EQ(split.advance, 3000);
}

TEST(CompressionRatio, RepetitionStandsOut) {
  EXPECT_EQ(compression_ratio(""), 0);
  EXPECT_LT(compression_ratio("He still kept his eyes fixed on him as he spoke."), 1.3);
  std::string loop;
  for (int i = 0; i < 40; ++i) loop += " thank you";
  EXPECT_GT(compression_ratio(loop), 10);
}

}  // namespace
}  // namespace sotto
