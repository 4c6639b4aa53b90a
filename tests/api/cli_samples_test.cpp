// The samples, transcribed as the reference implementation did it.
#include <regex>

#include <nlohmann/json.hpp>

#include "api/cli_test.h"

namespace sotto::test {
namespace {

using testing::IsEmpty;

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

TEST(CliSamples, silence_gives_no_text) {
  const Outcome outcome = sotto({"transcribe", "-q", kSamples + "silence.flac"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
}

}  // namespace
}  // namespace sotto::test
