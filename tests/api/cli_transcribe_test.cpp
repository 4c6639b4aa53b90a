// `sotto transcribe`, run as a user runs it.
#include <csignal>
#include <regex>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

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

// Words with single spaces between them, without special tokens: what remains when layout does not matter.
std::string plain_words(const std::string& text) {
  const std::string bare = std::regex_replace(text, std::regex(R"(<\|[^|]*\|>)"), " ");
  const std::string single = std::regex_replace(bare, std::regex(R"(\s+)"), " ");
  return std::regex_replace(single, std::regex("^ | $"), "");
}

class CliSample : public testing::TestWithParam<const char*> {
 protected:
  // As the reference was run: the plain network, without anything that might choose another text.
  Outcome transcribe_greedily(const std::string& timestamps) const {
    return sotto({"transcribe", "-q", "--compute-type", "float32", "--beam-size", "1", "--temperature", "0",
                  "--no-vad", timestamps, path_});
  }

  nlohmann::json expected_ = nlohmann::json::parse(file_text(kSamples + "nano_output.json")).at(GetParam());
  std::string path_ = kSamples + GetParam() + ".flac";
};

TEST_P(CliSample, gives_the_reference_text_without_timestamps) {
  const Outcome outcome = transcribe_greedily("--without-timestamps");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(plain_words(outcome.out), plain_words(expected_.at("greedy")));
}

TEST_P(CliSample, gives_the_reference_text_with_timestamps) {
  const Outcome outcome = transcribe_greedily("--no-without-timestamps");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(plain_words(outcome.out), plain_words(expected_.at("timestamps")));
}

INSTANTIATE_TEST_SUITE_P(Each, CliSample,
                         testing::Values("bdl_en_long", "commands_clb", "dialogue_clb_rms",
                                         "dialogue_pico_bdl", "espeak_en", "noisy_gb_10db", "pico_de",
                                         "pico_en_short", "silence", "slt_en"),
                         [](const auto& test) { return std::string(test.param); });

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
  const Outcome outcome =
      sotto({"transcribe", "-f", "all", "-o", target.string(), kSamples + "pico_en_short.flac"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_EQ(file_text(target / "pico_en_short.txt"), std::string(kShortText) + "\n");
  EXPECT_THAT(file_text(target / "pico_en_short.srt"),
              AllOf(StartsWith("1\n00:00:0"), HasSubstr(kShortText)));
  EXPECT_THAT(file_text(target / "pico_en_short.vtt"), AllOf(StartsWith("WEBVTT"), HasSubstr(kShortText)));
  EXPECT_THAT(nlohmann::json::parse(file_text(target / "pico_en_short.json")).dump(), HasSubstr(kShortText));
  EXPECT_EQ(std::distance(fs::directory_iterator(target), fs::directory_iterator()), 4)
      << "something was left over";
}

TEST(CliTranscribe, takes_folders_and_numbers_files_of_the_same_name) {
  TemporaryFolder folder;
  for (const char* name : {"in/one/x.flac", "in/two/x.FLAC"}) {
    fs::create_directories((folder / name).parent_path());
    fs::copy_file(kSamples + "pico_en_short.flac", folder / name);
  }
  write_text(folder / "in/notes.doc", "not audio");
  const Outcome outcome = sotto({"transcribe", (folder / "in").string(), "-o", (folder / "out").string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("2 audio or video files"));
  EXPECT_EQ(file_text(folder / "out/x.txt"), file_text(folder / "out/x-2.txt"));
}

TEST(CliTranscribe, several_files_on_standard_output_are_told_apart) {
  const Outcome outcome =
      run_program({command({"transcribe", "-q", "pico_en_short.flac", "silence.flac"}), kSamples});
  EXPECT_EQ(outcome.out,
            std::string("==> pico_en_short.flac <==\n") + kShortText + "\n\n==> silence.flac <==\n");
}

TEST(CliTranscribe, goes_on_after_a_bad_file_and_ends_with_1) {
  TemporaryFolder folder;
  write_text(folder / "bad.wav", "this is not audio");
  const Outcome outcome = sotto({"transcribe", (folder / "bad.wav").string(),
                                 (folder / "missing.wav").string(), kSamples + "pico_en_short.flac"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr(kShortText));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("bad.wav"), HasSubstr("missing.wav"), HasSubstr("2 of 3 inputs failed")));
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

// An hour of speech, so that an interrupt always comes in the middle.
class CliInterrupt : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome made = run_program({{"/usr/bin/env", "ffmpeg", "-v", "error", "-stream_loop", "170", "-i",
                                       kSamples + "bdl_en_long.flac", "-c", "copy", long_file_}});
    if (made.exit_code != 0) GTEST_SKIP() << "the ffmpeg program is needed to make a long file";
  }

  TemporaryFolder folder_;
  std::string long_file_ = (folder_ / "long.flac").string();
};

TEST_F(CliInterrupt, the_first_one_keeps_what_is_done) {
  ChildProcess child({command({"transcribe", long_file_})});
  ASSERT_TRUE(child.collect_until(
      [](const Outcome& outcome) { return outcome.out.find('\n') != std::string::npos; }));
  child.send_signal(SIGINT);
  const Outcome outcome = child.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, StartsWith("In fact, so far as our powers extend"));
  EXPECT_THAT(outcome.err, HasSubstr("stopped at"));
}

TEST_F(CliInterrupt, a_polite_request_to_end_leaves_whole_files) {
  const fs::path target = folder_ / "out";
  ChildProcess child({command({"transcribe", long_file_, "-o", target.string(), "-f", "json"})});
  ASSERT_TRUE(child.collect_until([](const Outcome& outcome) { return !outcome.err.empty(); }));
  child.send_signal(SIGTERM);
  const Outcome outcome = child.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped"));
  for (const auto& entry : fs::directory_iterator(target)) {
    EXPECT_EQ(entry.path().filename(), "long.json");
    EXPECT_TRUE(nlohmann::json::parse(file_text(entry.path())).is_object());
  }
}

}  // namespace
}  // namespace sotto::test
