// `sotto transcribe`, run as a user runs it.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "api/cli_test.h"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr const char* kShortText = "He still kept his eyes fixed on him as he spoke.";

TEST(CliTranscribe, says_which_model_and_device_but_only_on_standard_error) {
  const Outcome outcome = sotto({"transcribe", kSamples + "pico_en_short.flac"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, std::string(kShortText) + "\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("CPU"), HasSubstr("demonstration model"), HasSubstr("--model")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\x1b")));  // no colours and no bar outside a terminal
}

TEST(CliTranscribe, quiet_says_nothing_but_the_text) {
  const Outcome outcome = sotto({"transcribe", "--quiet", kSamples + "pico_en_short.flac"});
  EXPECT_EQ(outcome.out, std::string(kShortText) + "\n");
  EXPECT_THAT(outcome.err, IsEmpty());
}

TEST(CliTranscribe, reads_standard_input) {
  const Outcome outcome =
      run_program({command({"transcribe", "-q", "-"}), "", kSamples + "pico_en_short.flac", {}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, std::string(kShortText) + "\n");
}

TEST(CliTranscribe, one_format_without_a_folder_goes_to_standard_output) {
  const Outcome outcome = sotto({"transcribe", "-q", "-f", "json", kSamples + "pico_en_short.flac"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_TRUE(nlohmann::json::parse(outcome.out).is_object());
}

TEST(CliTranscribe, writes_all_formats_into_a_new_folder) {
  TemporaryFolder folder;
  const fs::path target = folder / "a/b";
  const Outcome outcome = sotto({"transcribe", "-f", "all", "-o", target.string(), "--word-timestamps",
                                 kSamples + "pico_en_short.flac"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  const auto text_as = [&](const std::string& format) {
    return file_text(target / ("pico_en_short." + format));
  };
  EXPECT_EQ(text_as("txt"), std::string(kShortText) + "\n");
  EXPECT_THAT(text_as("srt"), AllOf(StartsWith("1\n00:00:0"), HasSubstr("He still kept")));
  EXPECT_THAT(text_as("vtt"), AllOf(StartsWith("WEBVTT"), HasSubstr("He still kept")));
  EXPECT_THAT(text_as("tsv"), AllOf(StartsWith("start\tend\ttext\n"), HasSubstr(kShortText)));
  EXPECT_THAT(text_as("lrc"), AllOf(HasSubstr("[00:0"), HasSubstr("He still kept")));
  EXPECT_THAT(text_as("ass"), AllOf(StartsWith("[Script Info]"), HasSubstr("Dialogue:")));
  EXPECT_THAT(nlohmann::json::parse(text_as("json")).dump(), HasSubstr(kShortText));
  EXPECT_EQ(std::distance(fs::directory_iterator(target), fs::directory_iterator()), 7)
      << "something was left over";
}

TEST(CliTranscribe, missing_file) {
  const Outcome outcome = sotto({"transcribe", "no/such/file.wav"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.err, "Error: cannot read 'no/such/file.wav': there is no such file\n");
}

TEST(CliTranscribe, folder_without_audio) {
  TemporaryFolder folder;
  const Outcome outcome = sotto({"transcribe", folder.path().string()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("holds no audio or video files"));
}

TEST(CliTranscribe, broken_model_gives_one_sentence_with_its_name) {
  TemporaryFolder folder;
  write_text(folder / "page.bin", "<!DOCTYPE html><html><body>Not found</body></html>");
  const Outcome outcome =
      sotto({"transcribe", "--model", (folder / "page.bin").string(), kSamples + "pico_en_short.flac"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, AllOf(StartsWith("Error: "), HasSubstr("page.bin")));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST(CliTranscribe, output_folder_that_cannot_be_made) {
  const Outcome outcome = sotto({"transcribe", "-o", "/dev/null/out", kSamples + "pico_en_short.flac"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot make the folder"));
}

TEST(CliTranscribe, full_disk_is_an_error) {
  const Outcome outcome = run_program({{"/bin/sh", "-c", "exec \"$0\" transcribe -q \"$1\" > /dev/full",
                                        kProgram, kSamples + "pico_en_short.flac"}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("cannot write to standard output"));
}

TEST(CliTranscribe, closed_pipe_ends_without_a_word) {
  const Outcome outcome = run_program(
      {{"/bin/sh", "-c", "\"$0\" transcribe -q \"$1\" | true", kProgram, kSamples + "bdl_en_long.flac"}});
  EXPECT_THAT(outcome.err, IsEmpty());
}

}  // namespace
}  // namespace sotto::test
