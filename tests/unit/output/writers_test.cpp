#include "output/writers.h"

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sample_transcript.h"

namespace sotto {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

class GoldenFile : public testing::TestWithParam<std::string> {};

Transcript golden_transcript(const std::string& name) {
  if (name.starts_with("empty")) return {};
  Transcript transcript = sample_transcript();
  if (name.starts_with("highlight")) transcript.segments.resize(2);
  return transcript;
}

// SOTTO_UPDATE_GOLDEN=1 rewrites the files; the difference is then for git to show and a person to judge.
TEST_P(GoldenFile, IsReproducedByteForByte) {
  const std::string& name = GetParam();
  const std::string path = std::string(SOTTO_SOURCE_DIR "/tests/unit/output/golden/") + name;
  const LineRules rules{.highlight_words = name.starts_with("highlight")};
  const std::string actual = written(name.substr(name.rfind('.') + 1), golden_transcript(name), rules);
  if (std::getenv("SOTTO_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << actual;
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path;
  const std::string expected((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(actual, expected) << path;
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const Writer& writer : writers())
    for (const char* kind : {"sample.", "empty."}) names.push_back(kind + std::string(writer.format));
  for (const char* format : {"srt", "vtt", "ass"}) names.push_back("highlight." + std::string(format));
  return names;
}

INSTANTIATE_TEST_SUITE_P(Writers, GoldenFile, testing::ValuesIn(golden_names()), [](const auto& test) {
  std::string name = test.param;
  name[name.find('.')] = '_';
  return name;
});

TEST(Writers, EachFormatIsFoundByName) {
  std::vector<std::string> formats;
  for (const Writer& writer : writers()) {
    formats.emplace_back(writer.format);
    EXPECT_EQ(find_writer(writer.format), &writer);
    EXPECT_FALSE(writer.description.empty());
  }
  EXPECT_THAT(formats, ElementsAre("txt", "srt", "vtt", "tsv", "json", "lrc", "ass"));
  EXPECT_EQ(find_writer("SRT"), nullptr);
  EXPECT_EQ(find_writer(""), nullptr);
}

TEST(Writers, TextIsOneTrimmedLinePerSegment) {
  Transcript transcript = transcript_of("  one\n\ntwo \n");
  transcript.segments.push_back({.text = "\n"});
  transcript.segments.push_back({.text = "three"});
  EXPECT_EQ(written("txt", transcript), "one two\nthree\n");
}

TEST(Writers, ControlCharactersNeverReachTheTextFormats) {
  std::string text = "a";
  for (char c = 0; c < ' '; ++c) text += c;
  text += "\x7F\u0085\u2028\u2029";
  text += "b";
  EXPECT_EQ(written("txt", transcript_of(text)), "a b\n");
  EXPECT_EQ(written("srt", transcript_of(text)), "1\n00:00:00,000 --> 00:00:01,000\na b\n\n");
  EXPECT_EQ(written("vtt", transcript_of(text)), "WEBVTT\n\n00:00.000 --> 00:01.000\na b\n\n");
  EXPECT_EQ(written("tsv", transcript_of(text)), "start\tend\ttext\n0\t1000\ta b\n");
  EXPECT_THAT(written("lrc", transcript_of(text)), HasSubstr("[00:00.00]a b\n"));
  EXPECT_THAT(written("ass", transcript_of(text)), HasSubstr(",,a b\n"));
  EXPECT_EQ(Json::parse(written("json", transcript_of(text)))["segments"][0]["text"], text);
}

TEST(Writers, ArrowsInTextCannotBeTakenForTimes) {
  for (const char* text : {"-->", "a --> b", "---->", "-->-->", "00:01.000 --> 00:02.000"}) {
    const std::string srt = written("srt", transcript_of(text));
    EXPECT_EQ(srt.find("-->"), srt.rfind("-->")) << srt;
    const std::string vtt = written("vtt", transcript_of(text));
    EXPECT_EQ(vtt.find("-->"), vtt.rfind("-->")) << vtt;
  }
}

TEST(Writers, MarkupIsEscapedInWebVttOnly) {
  EXPECT_THAT(written("vtt", transcript_of("<b>R&amp;D</b>")), HasSubstr("&lt;b&gt;R&amp;amp;D&lt;/b&gt;\n"));
  EXPECT_THAT(written("srt", transcript_of("R&D < 1")), HasSubstr("\nR&D < 1\n"));
}

TEST(Writers, TimesAreRoundedToMilliseconds) {
  EXPECT_THAT(written("srt", transcript_of("x", 0.0004, 0.9996)), HasSubstr("00:00:00,000 --> 00:00:01,000"));
  EXPECT_THAT(written("vtt", transcript_of("x", 59.9995, 3599.9995)),
              HasSubstr("01:00.000 --> 01:00:00.000"));
  EXPECT_THAT(written("json", transcript_of("x", 1.20049, 1.2006)), HasSubstr(R"("start":1.2,"end":1.201,)"));
}

TEST(Writers, HoursGrowBeyondTwoDigits) {
  EXPECT_THAT(written("srt", transcript_of("x", 360000, 3600000)),
              HasSubstr("100:00:00,000 --> 1000:00:00,000"));
  EXPECT_THAT(written("vtt", transcript_of("x", 360000, 3600000)),
              HasSubstr("100:00:00.000 --> 1000:00:00.000"));
}

TEST(Writers, ACueAlwaysLasts) {
  const auto times = [](double start, double end) { return written("srt", transcript_of("x", start, end)); };
  EXPECT_THAT(times(-2, -1), HasSubstr("00:00:00,000 --> 00:00:00,700"));
  EXPECT_THAT(times(2, 1), HasSubstr("00:00:02,000 --> 00:00:02,700"));
  EXPECT_THAT(times(kNan, 1), HasSubstr("00:00:00,000 --> 00:00:01,000"));
  EXPECT_THAT(times(2, kNan), HasSubstr("00:00:02,000 --> 00:00:02,700"));
  EXPECT_THAT(times(0, kInfinity), HasSubstr("00:00:00,000 --> 1000000:00:00,000"));
}

TEST(Writers, JsonHasNoNegativeOrInvertedTimes) {
  const Json inverted = Json::parse(written("json", transcript_of("x", 2, 1)))["segments"][0];
  EXPECT_EQ(inverted["start"], 2.0);
  EXPECT_EQ(inverted["end"], 2.0);
  const Json negative = Json::parse(written("json", transcript_of("x", -2, -1)))["segments"][0];
  EXPECT_EQ(negative["start"], 0.0);
  EXPECT_EQ(negative["end"], 0.0);
}

TEST(Writers, NumbersThatJsonLacksBecomeNull) {
  Transcript transcript = transcript_of("x", kNan, kInfinity);
  transcript.duration = kNan;
  transcript.language_probability = kInfinity;
  transcript.segments[0].average_log_probability = -kInfinity;
  transcript.segments[0].compression_ratio = kNan;
  const Json json = Json::parse(written("json", transcript));
  EXPECT_TRUE(json["duration"].is_null());
  EXPECT_TRUE(json["language_probability"].is_null());
  for (const char* name : {"start", "end", "avg_logprob", "compression_ratio"})
    EXPECT_TRUE(json["segments"][0][name].is_null()) << name;
}

TEST(Writers, InvalidUtf8IsReplacedInEveryFormat) {
  Transcript transcript = transcript_of("a\xFF\xE2\x82 b");
  transcript.file = "\xFE.wav";
  transcript.language = "\xC0";
  transcript.damage = {{0, 1, "\x80"}};
  for (const Writer& writer : writers())
    EXPECT_THAT(written(writer.format, transcript), HasSubstr("a\uFFFD\uFFFD b")) << writer.format;
  const Json json = Json::parse(written("json", transcript));  // throws for invalid UTF-8
  EXPECT_EQ(json["file"], "\uFFFD.wav");
  EXPECT_EQ(json["language"], "\uFFFD");
  EXPECT_EQ(json["damage"][0]["text"], "\uFFFD");
}

TEST(Writers, TheWholeTextIsThatOfTheSegments) {
  Transcript transcript = transcript_of(" One.");
  transcript.segments.push_back({.text = " Two."});
  EXPECT_EQ(Json::parse(written("json", transcript))["text"], "One. Two.");
}

TEST(Writers, TheTrustRecordSaysWhatIsSuspect) {
  Transcript transcript = transcript_of("x");
  const auto trust = [&] { return Json::parse(written("json", transcript))["segments"][0]["trust"]; };
  EXPECT_EQ(trust()["suspect"], false);
  EXPECT_TRUE(trust()["reason"].is_null());
  transcript.segments[0].trust.suspect = "there may be no speech";
  EXPECT_EQ(trust()["suspect"], true);
  EXPECT_EQ(trust()["reason"], "there may be no speech");
}

TEST(Writers, JsonHasWordsOnlyWhereThereAreSome) {
  Transcript transcript = transcript_of(" one two");
  EXPECT_FALSE(Json::parse(written("json", transcript))["segments"][0].contains("words"));
  transcript.segments[0].words = even_words(" one two", 0, 1);
  const Json words = Json::parse(written("json", transcript))["segments"][0]["words"];
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[1].dump(), R"({"word":" two","start":0.5,"end":1.0,"probability":0.75})");
}

TEST(Writers, LyricsCountMinutesBeyondTwoDigits) {
  EXPECT_THAT(written("lrc", transcript_of("x", 6000.996, 6002)), HasSubstr("\n[100:01.00]x\n[100:02.00]\n"));
}

TEST(Writers, LyricsTextIsNeverTakenForATime) {
  EXPECT_THAT(written("lrc", transcript_of("[00:05.00] no")), HasSubstr("[00:00.00](00:05.00) no\n"));
  EXPECT_THAT(written("lrc", transcript_of("[music]")), HasSubstr("[00:00.00][music]\n"));
}

TEST(Writers, AssCommandsInTextAreHarmless) {
  EXPECT_THAT(written("ass", transcript_of("{\\b1}a\\Nb")), HasSubstr(",,\\{\\\u2060b1\\}a\\\u2060Nb\n"));
  Transcript transcript = transcript_of("x");
  transcript.file = "a\n[Events]\nb";
  EXPECT_THAT(written("ass", transcript), HasSubstr("Title: a [Events] b\n"));
}

TEST(Writers, AssCuesDoNotOverlapByRounding) {
  Transcript transcript = transcript_of("a", 1, 1.001);
  transcript.segments.push_back({.start = 1.002, .end = 1.003, .text = "b"});
  const std::string ass = written("ass", transcript);
  EXPECT_THAT(ass, HasSubstr("0,0:00:01.00,0:00:01.01,Default,,0,0,0,,a\n"));
  EXPECT_THAT(ass, HasSubstr("0,0:00:01.01,0:00:01.70,Default,,0,0,0,,b\n"));
}

TEST(Writers, CuesAreNumberedWithoutGaps) {
  Transcript transcript = transcript_of("one");
  transcript.segments.push_back({.text = " "});
  transcript.segments.push_back({.text = "two"});
  EXPECT_THAT(written("srt", transcript), HasSubstr("\n\n2\n"));
  EXPECT_THAT(written("srt", transcript), Not(HasSubstr("\n\n3\n")));
}

}  // namespace
}  // namespace sotto
