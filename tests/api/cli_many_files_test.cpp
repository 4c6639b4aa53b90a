// `sotto transcribe` with several files, which are worked on side by side.
#include <csignal>

#include <nlohmann/json.hpp>

#include "api/cli_test.h"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kShortText = "He still kept his eyes fixed on him as he spoke.";
// The longest first, so that the others are ready before their turn.
const std::vector<std::string> kFiles{"bdl_en_long.flac", "pico_en_short.flac", "pico_de.flac",
                                      "silence.flac", "slt_en.flac"};

Outcome transcribe_samples(std::vector<std::string> arguments, const std::vector<std::string>& files) {
  arguments.insert(arguments.begin(), {kProgram, "transcribe"});
  arguments.insert(arguments.end(), files.begin(), files.end());
  return run_program({arguments, kSamples});
}

TEST(CliManyFiles, text_comes_in_their_order_and_equals_the_single_runs) {
  std::string expected;
  for (const std::string& file : kFiles) {
    const Outcome single = transcribe_samples({"-q"}, {file});
    ASSERT_EQ(single.exit_code, 0) << single.err;
    expected += (expected.empty() ? "==> " : "\n==> ") + file + " <==\n" + single.out;
  }
  const Outcome together = transcribe_samples({"-q"}, kFiles);
  EXPECT_EQ(together.exit_code, 0) << together.err;
  EXPECT_EQ(together.out, expected);
  const Outcome two_at_a_time = transcribe_samples({"-q", "--batch-size", "2"}, kFiles);
  EXPECT_EQ(two_at_a_time.out, expected);
}

TEST(CliManyFiles, documents_equal_those_of_the_single_runs_bit_for_bit) {
  TemporaryFolder folder;
  const std::vector<std::string> files{"dialogue_pico_bdl.flac", "espeak_en.flac", "pico_en_short.flac"};
  const std::vector<std::string> options{"-f", "json,srt", "--word-timestamps", "-o"};
  const auto written_to = [&](const char* name, const std::vector<std::string>& inputs) {
    std::vector<std::string> arguments = options;
    arguments.push_back((folder / name).string());
    const Outcome outcome = transcribe_samples(arguments, inputs);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  };
  written_to("together", files);
  for (const std::string& file : files) {
    written_to("alone", {file});
    const fs::path json = fs::path(file).replace_extension(".json"),
                   srt = fs::path(file).replace_extension(".srt");
    const auto document = [&](const char* name) {
      return nlohmann::json::parse(file_text(folder / name / json));
    };
    EXPECT_EQ(document("together").at("segments"), document("alone").at("segments")) << file;
    EXPECT_EQ(file_text(folder / "together" / srt), file_text(folder / "alone" / srt)) << file;
  }
}

TEST(CliManyFiles, messages_come_in_their_order) {
  const Outcome outcome = transcribe_samples({}, {"bdl_en_long.flac", "pico_en_short.flac"});
  const size_t first = outcome.err.find("[1/2] bdl_en_long.flac: 0:2");
  const size_t second = outcome.err.find("[2/2] pico_en_short.flac: 0:0");
  ASSERT_NE(first, std::string::npos) << outcome.err;
  ASSERT_NE(second, std::string::npos) << outcome.err;
  EXPECT_LT(first, second);
  EXPECT_THAT(outcome.err, HasSubstr("2 files: 0:"));
}

TEST(CliManyFiles, takes_folders_and_numbers_files_of_the_same_name) {
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

TEST(CliManyFiles, goes_on_after_a_bad_file_and_ends_with_1) {
  TemporaryFolder folder;
  write_text(folder / "bad.wav", "this is not audio");
  const Outcome outcome = sotto({"transcribe", (folder / "bad.wav").string(),
                                 (folder / "missing.wav").string(), kSamples + "pico_en_short.flac"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, HasSubstr(kShortText));
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("bad.wav"), HasSubstr("missing.wav"), HasSubstr("2 of 3 inputs failed")));
}

TEST(CliManyFiles, a_mistake_in_the_options_is_said_once) {
  const Outcome outcome = transcribe_samples({"--language", "klingon"}, kFiles);
  EXPECT_EQ(outcome.exit_code, 2);
  const size_t first = outcome.err.find("klingon");
  ASSERT_NE(first, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("klingon", first + 1), std::string::npos) << outcome.err;
}

TEST(CliManyFiles, the_same_file_twice_gives_the_same_twice) {
  const Outcome outcome = transcribe_samples({"-q"}, {"pico_en_short.flac", "pico_en_short.flac"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::string one = std::string("==> pico_en_short.flac <==\n") + kShortText + "\n";
  EXPECT_EQ(outcome.out, one + "\n" + one);
}

}  // namespace
}  // namespace sotto::test
