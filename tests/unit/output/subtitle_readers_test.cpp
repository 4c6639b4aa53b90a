// What we write must be read by a program that is not ours: FFmpeg's subtitle readers, where they are
// installed.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sample_transcript.h"

namespace sotto {
namespace {

using testing::HasSubstr;

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  for (int c; pipe && (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  return text;
}

class SubtitleReader : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::system("ffprobe -version > /dev/null 2>&1") != 0)
      GTEST_SKIP() << "the program ffprobe is not installed";
  }

  // Start and length, then text of every cue as ffprobe sees them; what it complains about is part of the
  // result.
  static std::string probe(const std::string& content, const std::string& format) {
    const auto path =
        std::filesystem::path(testing::TempDir()) / ("sotto_" + std::to_string(getpid()) + "." + format);
    std::ofstream(path, std::ios::binary) << content;
    std::string result =
        output_of("ffprobe -v warning -show_entries packet=pts_time,duration_time -of csv=p=0 '" +
                  path.string() + "' 2>&1");
    result += output_of("ffmpeg -v warning -i '" + path.string() + "' -f srt - 2>&1 < /dev/null");
    std::filesystem::remove(path);
    return std::regex_replace(result, std::regex("</?font[^>]*>|\r"),
                              "");  // the style's font, FFmpeg's line ends
  }
};

TEST_P(SubtitleReader, FindsEveryCueOfAnOrdinaryTranscript) {
  Transcript transcript = transcript_of(" We are creatures of the sun.", 0.4, 5.1);
  transcript.segments.push_back({.start = 360000, .end = 360001.25, .text = " naïve café 日本語"});
  EXPECT_EQ(probe(written(GetParam(), transcript), GetParam()),
            "0.400000,4.700000\n360000.000000,1.250000\n"
            "1\n00:00:00,400 --> 00:00:05,100\nWe are creatures of the sun.\n\n"
            "2\n100:00:00,000 --> 100:00:01,250\nnaïve café 日本語\n\n");
}

TEST_P(SubtitleReader, FindsTheLinesOfLongText) {
  const Transcript transcript =
      transcript_of(" It rained all day. We stayed at home and read our books.", 1, 5);
  EXPECT_THAT(probe(written(GetParam(), transcript), GetParam()),
              HasSubstr("\nIt rained all day.\nWe stayed at home and read our books.\n"));
}

TEST_P(SubtitleReader, IsNotConfusedByWhatTextsContain) {
  const Transcript sample = sample_transcript();
  Transcript ordered = sample;
  ordered.segments.clear();
  for (const Segment& segment :
       sample.segments)  // what is out of order is shown later, which is not the point
    if (segment.id == 5 || segment.id >= 9) ordered.segments.push_back(segment);
  const std::string seen = probe(written(GetParam(), ordered), GetParam());
  EXPECT_THAT(seen, HasSubstr("\n4\n100:00:02,000 --> 100:00:03,000\n"));
  EXPECT_THAT(seen, HasSubstr("\n2\n01:00:00,000 --> 01:01:01,500\nTwo lines, a tab, a bell and"));
  EXPECT_THAT(seen, HasSubstr("Tom & Jerry: 1 < 2 -"));
}

TEST_P(SubtitleReader, FindsEachHighlightedWord) {
  Transcript transcript = transcript_of(" one two", 1, 3);
  transcript.segments[0].words = even_words(" one two", 1, 3);
  const std::string seen = probe(written(GetParam(), transcript, {.highlight_words = true}), GetParam());
  if (std::string(GetParam()) == "ass")  // one cue with the times of its words inside
    EXPECT_THAT(seen, HasSubstr("1.000000,2.000000\n"));
  else
    EXPECT_THAT(seen, HasSubstr("1.000000,1.000000\n2.000000,1.000000\n"));
}

INSTANTIATE_TEST_SUITE_P(Formats, SubtitleReader, testing::Values("srt", "vtt", "ass"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sotto
