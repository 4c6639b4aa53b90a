// The parts of the program that are easier to look at one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/text_files.h"
#include "cli/checkpoint_file.h"
#include "cli/help.h"
#include "cli/output_files.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/usage_errors.h"

namespace sotto::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

ProgressState half_way() {
  return {.label = "talk.mp3", .done = 600, .total = 1200, .elapsed = 50};
}

TEST(CliProgress, bar_shows_percent_speed_and_time_left) {
  const std::string bar = progress_bar(half_way(), 80, false);
  EXPECT_THAT(bar, StartsWith("talk.mp3 [====="));
  EXPECT_THAT(bar, EndsWith("]  50%  12.0x  0:50 left"));
}

TEST(CliProgress, bar_fits_any_width) {
  ProgressState state = half_way();
  state.label = "a very long name with ümläuts that goes on and on and on for ever.mp3";
  for (size_t width = 1; width < 200; ++width)
    EXPECT_LE(displayed_columns(progress_bar(state, width, false)), width);
}

TEST(CliProgress, says_100_percent_only_at_the_end) {
  ProgressState state = half_way();
  state.done = 1199.9;
  EXPECT_THAT(progress_bar(state, 80, false), HasSubstr(" 99%"));
  state.done = 1200;
  EXPECT_THAT(progress_bar(state, 80, false), HasSubstr("100%"));
}

TEST(CliProgress, unknown_length_shows_what_is_done) {
  ProgressState state = half_way();
  state.total = -1;
  EXPECT_EQ(progress_bar(state, 80, false), "talk.mp3 10:00  12.0x");
  EXPECT_EQ(progress_line(state), "talk.mp3: 10:00  12.0x");
}

TEST(CliProgress, line_for_a_log) {
  EXPECT_EQ(progress_line(half_way()), "talk.mp3: 10:00 of 20:00 (50%)  12.0x  0:50 left");
}

TEST(CliProgress, what_an_earlier_run_did_does_not_count_as_speed) {
  ProgressState state = half_way();
  state.earlier = 500;
  EXPECT_EQ(progress_line(state), "talk.mp3: 10:00 of 20:00 (50%)  2.0x  5:00 left");
}

TEST(CliOverallProgress, files_that_have_not_begun_count_as_average) {
  OverallProgress progress(4);
  EXPECT_LT(progress.total(), 0);
  progress.advance(0, 0, 100);
  progress.advance(1, 50, 300);
  EXPECT_EQ(progress.total(), 800);
  EXPECT_EQ(progress.done(), 50);
  progress.finish(0);
  EXPECT_EQ(progress.done(), 150);
  EXPECT_EQ(progress.finished(), 1u);
}

TEST(CliOverallProgress, unknown_lengths_are_known_at_the_end) {
  OverallProgress progress(2);
  progress.advance(0, 0, 100);
  progress.advance(1, 40, -1);
  EXPECT_LT(progress.total(), 0);
  progress.finish(1);
  EXPECT_EQ(progress.total(), 140);
  EXPECT_EQ(progress.done(), 40);
}

TEST(CliOverallProgress, a_file_that_fails_at_once_is_not_waited_for) {
  OverallProgress progress(2);
  progress.advance(0, 10, 100);
  progress.finish(1);
  EXPECT_EQ(progress.total(), 100);
}

TEST(CliOverallProgress, the_first_step_of_a_resumed_file_is_from_an_earlier_run) {
  OverallProgress progress(1);
  progress.begin(0, true);
  progress.advance(0, 0, 100);
  progress.advance(0, 70, 100);
  progress.advance(0, 80, 100);
  EXPECT_EQ(progress.earlier(), 70);
}

TEST(CliProgress, clock) {
  EXPECT_EQ(clock_text(0), "0:00");
  EXPECT_EQ(clock_text(65), "1:05");
  EXPECT_EQ(clock_text(36000 + 125), "10:02:05");
  EXPECT_EQ(clock_text(-1), "0:00");
}

TEST(CliTerminal, shortened_keeps_the_end_and_whole_characters) {
  EXPECT_EQ(shortened("talk.mp3", 8), "talk.mp3");
  EXPECT_EQ(shortened("long-name.mp3", 10), "...ame.mp3");
  EXPECT_EQ(shortened("ääääää.mp3", 8), "...ä.mp3");
}

TEST(CliUsageErrors, nearest_name) {
  EXPECT_EQ(nearest_name("--langage", {"--language", "--task"}), "--language");
  EXPECT_EQ(nearest_name("--frobnicate", {"--language", "--task"}), std::nullopt);
}

TEST(CliHelp, wrapped_breaks_at_spaces_and_keeps_long_words) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("incomprehensible word", 5), ElementsAre("incomprehensible", "word"));
}

TEST(CliTable, aligns_text_left_and_numbers_right) {
  EXPECT_EQ(aligned_table({{"name", "ms"}, {"tiny", "423"}, {"b", "7"}}), "name  ms\ntiny  423\nb       7\n");
}

TEST(CliTable, objects_become_lines) {
  EXPECT_EQ(readable(Json::parse(R"({"mel_bins": 80, "languages": ["en", "de"], "sizes": {"width": 256}})")),
            "mel bins   80\nlanguages  en, de\nsizes\n  width  256\n");
}

TEST(CliOutputNames, never_names_an_input) {
  test::TemporaryFolder folder;
  const std::string input = (folder / "talk.txt").string();
  OutputNames names(folder.path(), {input});
  EXPECT_THAT(names.for_input(input, {"txt"}), ElementsAre(folder / "talk-2.txt"));
}

TEST(CliOutputNames, all_formats_of_one_input_share_a_name) {
  OutputNames names("out", {"a/x.wav", "b/x.wav"});
  EXPECT_THAT(names.for_input("a/x.wav", {"txt"}), ElementsAre("out/x.txt"));
  EXPECT_THAT(names.for_input("b/x.wav", {"txt", "srt"}), ElementsAre("out/x-2.txt", "out/x-2.srt"));
  EXPECT_THAT(names.for_input("-", {"txt"}), ElementsAre("out/stdin.txt"));
}

TEST(CliOutputFiles, whole_file_replaces_the_old_one) {
  test::TemporaryFolder folder;
  write_whole_file(folder / "x.txt", "old");
  write_whole_file(folder / "x.txt", "new");
  EXPECT_EQ(test::file_text(folder / "x.txt"), "new");
}

TEST(CliCheckpoint, lies_in_the_cache_folder_and_depends_on_the_path_alone) {
  test::TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", folder.path().c_str(), 1);
  test::write_text(folder / "a.wav", "");
  test::write_text(folder / "b.wav", "");
  const auto a = checkpoint_path((folder / "a.wav").string());
  EXPECT_EQ(a.parent_path(), folder / "sotto/resume");
  EXPECT_EQ(a, checkpoint_path((folder / "a.wav").string()));
  EXPECT_NE(a, checkpoint_path((folder / "b.wav").string()));
  EXPECT_EQ(checkpoint_path("-"), "");
  EXPECT_EQ(checkpoint_path("/dev/null"), "");
}

TEST(CliCheckpoint, belongs_to_one_run_at_a_time) {
  test::TemporaryFolder folder;
  const auto path = folder / "new/x.jsonl";
  {
    const CheckpointFile first(path), second(path);
    EXPECT_TRUE(first.usable());
    EXPECT_FALSE(second.usable());
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "it was never written to";
  test::write_text(path, "left by an earlier run");
  EXPECT_TRUE(CheckpointFile(path).holds_earlier_run());
  EXPECT_TRUE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace sotto::cli
