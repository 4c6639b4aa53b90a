#include "engine/resume_log.h"

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace sotto::test {
namespace {

ResumePoint point(size_t position) {
  ResumePoint p;
  p.position = position;
  p.context = {1, 2, static_cast<TokenId>(position)};
  p.language = 7;
  p.language_code = "en";
  p.language_probability = 1.0 / 3;
  p.windows_heard = 1;
  p.last_speech_end = 0.1 + static_cast<double>(position);
  Segment segment;
  segment.start = 0.1;
  segment.end = 0.7;
  segment.text = " Größe \"x\"\n";
  segment.tokens = {5, 6};
  segment.words = {{" Größe", 0.1, 0.3, 0.99}};
  segment.language = "de";
  segment.trust.suspect = "why";
  segment.trust.attempts = 3;
  segment.average_log_probability = -0.123456789012345;
  p.segments = {segment};
  return p;
}

TEST(ResumeLog, GoesOnWhereItStopped) {
  const TemporaryFolder folder;
  const auto path = folder / "deep/run.jsonl";
  {
    ResumeLog log(path, "input", false);
    EXPECT_FALSE(log.found());
    log.record(point(100));
    log.record(point(200));
  }
  ResumeLog log(path, "input", true);
  ASSERT_TRUE(log.found());
  const ResumePoint& found = *log.found();
  EXPECT_EQ(found.position, 200u);
  EXPECT_EQ(found.context, point(200).context);
  EXPECT_EQ(found.language, 7);
  EXPECT_EQ(found.language_probability, 1.0 / 3);
  EXPECT_EQ(found.last_speech_end, 200.1);
  ASSERT_EQ(found.segments.size(), 2u);
  const Segment expected = point(100).segments[0], &segment = found.segments[0];
  EXPECT_EQ(segment.text, expected.text);
  EXPECT_EQ(segment.tokens, expected.tokens);
  EXPECT_EQ(segment.average_log_probability, expected.average_log_probability);
  EXPECT_EQ(segment.trust.suspect, "why");
  EXPECT_EQ(segment.trust.attempts, 3);
  ASSERT_EQ(segment.words.size(), 1u);
  EXPECT_EQ(segment.words[0].text, " Größe");
  log.record(point(300));
  EXPECT_EQ(ResumeLog(path, "input", true).found()->position, 300u);
}

TEST(ResumeLog, EveryCutLeavesWholeWindows) {
  const TemporaryFolder folder;
  const auto path = folder / "run.jsonl";
  {
    ResumeLog log(path, "input", false);
    log.record(point(100));
    log.record(point(200));
  }
  const auto whole = read_file(path);
  for (size_t size = 0; size < whole.size(); size += 7) {
    write_file(path, std::span(whole).first(size));
    const ResumeLog log(path, "input", true);
    if (log.found()) EXPECT_TRUE(log.found()->position == 100 || log.found()->position == 200);
  }
}

TEST(ResumeLog, AnotherInputStartsAnew) {
  const TemporaryFolder folder;
  const auto path = folder / "run.jsonl";
  ResumeLog(path, "input", false).record(point(100));
  EXPECT_FALSE(ResumeLog(path, "another", true).found());
}

TEST(ResumeLog, ACompleteRunLeavesNothing) {
  const TemporaryFolder folder;
  const auto path = folder / "run.jsonl";
  ResumeLog log(path, "input", false);
  log.record(point(100));
  log.remove();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ResumeLog, AnUnwritablePlaceIsNoError) {
  EXPECT_NO_THROW(ResumeLog("/proc/nowhere/run.jsonl", "input", true).record(point(1)));
}

}  // namespace
}  // namespace sotto::test
