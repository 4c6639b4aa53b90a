#include "output/subtitle_cues.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample_transcript.h"

namespace sotto {
namespace {

using testing::ElementsAre;
using testing::SizeIs;
using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text, const LineRules& rules = {}) {
  Lines all;
  for (const Cue& cue : subtitle_cues(transcript_of(text, 0, 60), rules)) {
    std::string joined;
    for (const std::string& line : cue.lines) joined += (joined.empty() ? "" : "|") + line;
    all.push_back(joined);
  }
  return all;
}

std::vector<std::pair<int64_t, int64_t>> times_of(const Transcript& transcript, const LineRules& rules = {}) {
  std::vector<std::pair<int64_t, int64_t>> times;
  for (const Cue& cue : subtitle_cues(transcript, rules)) times.emplace_back(cue.start, cue.end);
  return times;
}

Transcript two_segments(double first_end, double second_start, const std::string& first = "one") {
  Transcript transcript = transcript_of(first, 0, first_end);
  transcript.segments.push_back({.start = second_start, .end = second_start + 2, .text = "two"});
  return transcript;
}

TEST(SubtitleLines, WhatFitsStaysOnOneLine) {
  EXPECT_THAT(lines_of("  We are creatures   of the sun. "), ElementsAre("We are creatures of the sun."));
  EXPECT_THAT(lines_of(std::string(42, 'x')), ElementsAre(std::string(42, 'x')));
  EXPECT_THAT(lines_of(" \n "), ElementsAre());
}

TEST(SubtitleLines, TwoLinesAreBalanced) {
  EXPECT_THAT(lines_of("one two three four five six seven eight nine ten"),
              ElementsAre("one two three four five|six seven eight nine ten"));
}

TEST(SubtitleLines, PreferTheEndOfASentenceThenOfAClause) {
  EXPECT_THAT(lines_of("It rained all day. We stayed at home and read our books."),
              ElementsAre("It rained all day.|We stayed at home and read our books."));
  EXPECT_THAT(lines_of("When the rain had stopped, we went out again to see"),
              ElementsAre("When the rain had stopped,|we went out again to see"));
}

TEST(SubtitleLines, TitlesAndInitialsEndNoSentence) {
  EXPECT_THAT(lines_of("we have heard it from the old Mr. Quilter of the"),
              ElementsAre("we have heard it from the|old Mr. Quilter of the"));
}

TEST(SubtitleLines, LongTextIsSplitAtSentences) {
  EXPECT_THAT(
      lines_of("The quick brown fox jumps over the lazy dog there. And then it goes home to sleep in its "
               "den by the river."),
      ElementsAre("The quick brown fox jumps|over the lazy dog there.",
                  "And then it goes home to|sleep in its den by the river."));
}

TEST(SubtitleLines, ASentenceIsNotBegunAtTheEndOfASubtitleThatCannotHoldIt) {
  EXPECT_THAT(
      lines_of("The quick brown fox jumps over the lazy dog. Then, after a rest, it goes home, and nobody "
               "knows whether it will ever come back to the river again."),
      ElementsAre("The quick brown fox|jumps over the lazy dog.", "Then, after a rest, it goes home,",
                  "and nobody knows whether it will|ever come back to the river again."));
}

TEST(SubtitleLines, AWordLongerThanALineIsCut) {
  const LineRules narrow{.max_line_width = 8, .max_lines = 2};
  EXPECT_THAT(lines_of("abcdefghijklmnopqrst", narrow), ElementsAre("abcdefgh", "ijklmnop|qrst"));
  EXPECT_THAT(lines_of("ééééééééé", narrow), ElementsAre("éééééééé|é"));
}

TEST(SubtitleLines, TextWithoutSpacesBreaksBetweenCharactersButNotBeforePunctuation) {
  EXPECT_THAT(lines_of("日本語文字。東京都", {.max_line_width = 6}), ElementsAre("日本語文字。|東京都"));
  EXPECT_THAT(lines_of("日本語文。東京都", {.max_line_width = 4}), ElementsAre("日本|語文。", "東京都"));
}

TEST(SubtitleLines, ImpossibleRulesAreTakenAsTheSmallestPossibleOnes) {
  EXPECT_THAT(lines_of("ab c", {.max_line_width = 0, .max_lines = -1, .max_cps = 0}),
              ElementsAre("a", "b", "c"));
}

TEST(SubtitleTimes, ComeFromTheWordsWhereASegmentIsSplit) {
  const LineRules narrow{.max_line_width = 8, .max_lines = 1};
  Transcript transcript = transcript_of(" one two three four", 0, 10);
  transcript.segments[0].words = {
      {" one", 0.5, 1, 1}, {" two", 1, 1.5, 1}, {" three", 6, 7, 1}, {" four", 8, 9, 1}};
  EXPECT_THAT(times_of(transcript, narrow),
              ElementsAre(std::pair(0, 1500), std::pair(6000, 7000), std::pair(8000, 10000)));
}

TEST(SubtitleTimes, AreProportionalWithoutWordsOrWithWordsOfAnotherText) {
  const LineRules narrow{.max_line_width = 5, .max_lines = 1};
  Transcript transcript = transcript_of("aaaaa bbbbb", 0, 10);
  EXPECT_THAT(times_of(transcript, narrow), ElementsAre(std::pair(0, 4920), std::pair(5000, 10000)));
  transcript.segments[0].words = even_words("aaaaa ccccc", 0, 2);
  EXPECT_THAT(times_of(transcript, narrow), ElementsAre(std::pair(0, 4920), std::pair(5000, 10000)));
  EXPECT_THAT(subtitle_cues(transcript, narrow)[0].words, SizeIs(0));
}

TEST(SubtitleTimes, KeepAGapBetweenCuesThatTouchOrOverlap) {
  EXPECT_THAT(times_of(two_segments(2, 2)), ElementsAre(std::pair(0, 1920), std::pair(2000, 4000)));
  EXPECT_THAT(times_of(two_segments(3, 2)), ElementsAre(std::pair(0, 1920), std::pair(2000, 4000)));
  EXPECT_THAT(times_of(two_segments(2, 2.5)), ElementsAre(std::pair(0, 2000), std::pair(2500, 4500)));
  EXPECT_THAT(times_of(two_segments(0.1, 0.1)), ElementsAre(std::pair(0, 75), std::pair(100, 2100)));
}

TEST(SubtitleTimes, ShortCuesStayWhereThereIsRoom) {
  EXPECT_THAT(times_of(two_segments(0.2, 3)), ElementsAre(std::pair(0, 700), std::pair(3000, 5000)));
  EXPECT_THAT(times_of(two_segments(0.2, 0.5)), ElementsAre(std::pair(0, 420), std::pair(500, 2500)));
}

TEST(SubtitleTimes, FastCuesStayUntilTheyCanBeRead) {
  const std::string text(40, 'x');  // two seconds at 20 characters a second
  EXPECT_THAT(times_of(two_segments(1, 3, text)), ElementsAre(std::pair(0, 2000), std::pair(3000, 5000)));
  EXPECT_THAT(times_of(two_segments(1, 1.5, text)), ElementsAre(std::pair(0, 1420), std::pair(1500, 3500)));
  EXPECT_THAT(times_of(two_segments(1, 3, text), {.max_cps = 0}),
              ElementsAre(std::pair(0, 1000), std::pair(3000, 5000)));
}

TEST(SubtitleTimes, TheLastCueStaysUntilTheEndOfTheAudioAtMost) {
  Transcript transcript = transcript_of(std::string(40, 'x'), 0, 1);
  EXPECT_THAT(times_of(transcript), ElementsAre(std::pair(0, 2000)));
  transcript.duration = 1.25;
  EXPECT_THAT(times_of(transcript), ElementsAre(std::pair(0, 1250)));
  transcript.duration = 0.5;
  EXPECT_THAT(times_of(transcript), ElementsAre(std::pair(0, 1000)));
}

TEST(SubtitleTimes, SegmentsOutOfOrderKeepTheOrderOfTheText) {
  EXPECT_THAT(times_of(two_segments(9, -3)), ElementsAre(std::pair(0, 1), std::pair(1, 701)));
}

TEST(SubtitleWords, PointAtTheirTextAndLieWithinTheCue) {
  const std::string text = " Ünder the bridge, all of the boats are waiting";
  Transcript transcript = transcript_of(text, 1, 9);
  transcript.segments[0].words = even_words(text, 1, 9);
  const std::vector<Cue> cues = subtitle_cues(transcript, {});
  ASSERT_THAT(cues, SizeIs(1));
  ASSERT_THAT(cues[0].words, SizeIs(9));
  std::string joined;
  for (const CueWord& word : cues[0].words)
    joined += " " + cues[0].lines[word.line].substr(word.offset, word.size);
  EXPECT_EQ(joined, text);
  EXPECT_EQ(cues[0].words[0].start, 1000);
  EXPECT_EQ(cues[0].words[8].end, 9000);
}

TEST(SubtitleWords, EqualTimesStillGiveEachWordItsTurn) {
  Transcript transcript = transcript_of(" a b c", 1, 2);
  transcript.segments[0].words = {{" a", 1.5, 1.5, 1}, {" b", 1.5, 1.5, 1}, {" c", 1.5, 1.5, 1}};
  EXPECT_EQ(written("srt", transcript, {.highlight_words = true}),
            "1\n00:00:01,000 --> 00:00:01,500\n<u>a</u> b c\n\n"
            "2\n00:00:01,500 --> 00:00:01,501\na <u>b</u> c\n\n"
            "3\n00:00:01,501 --> 00:00:02,000\na b <u>c</u>\n\n");
}

TEST(SubtitleWords, WithoutTimesThereIsNoHighlighting) {
  const Transcript transcript = transcript_of(" a b c", 1, 2);
  for (const char* format : {"srt", "vtt", "ass"})
    EXPECT_EQ(written(format, transcript, {.highlight_words = true}), written(format, transcript));
}

}  // namespace
}  // namespace sotto
