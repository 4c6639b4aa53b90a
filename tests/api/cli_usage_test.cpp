// What the program says about itself, and what it says to a command line that makes no sense.
#include <sstream>

#include "api/cli_test.h"

namespace sotto::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(CliUsage, help_goes_to_standard_output_and_teaches) {
  const Outcome outcome = sotto({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  for (const char* expected :
       {"Usage: sotto COMMAND", "transcribe", "convert", "bench", "Examples:", "Exit codes"})
    EXPECT_THAT(outcome.out, HasSubstr(expected));
}

TEST(CliUsage, help_of_transcribe_lists_every_option_with_its_default) {
  const Outcome outcome = sotto({"transcribe", "--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  for (const char* expected : {"--model",
                               "--language",
                               "--task transcribe|translate",
                               "--device",
                               "--compute-type",
                               "--threads",
                               "--output-format",
                               "--output-dir",
                               "--quiet",
                               "--verbose",
                               "--beam-size",
                               "--initial-prompt",
                               "--[no-]vad",
                               "--[no-]word-timestamps",
                               "--batch-size",
                               "--checkpoint FILE",
                               "--[no-]resume",
                               "--max-line-width",
                               "--[no-]condition-on-previous-text",
                               "(default: on)",
                               "Examples:"})
    EXPECT_THAT(outcome.out, HasSubstr(expected));
}

TEST(CliUsage, help_fits_eighty_columns) {
  std::istringstream lines(sotto({"transcribe", "--help"}).out);
  for (std::string line; std::getline(lines, line);) {
    const bool is_list_of_choices = line.find('|') != std::string::npos;
    EXPECT_TRUE(is_list_of_choices || line.size() <= 80) << line;
  }
}

TEST(CliUsage, version) {
  const Outcome outcome = sotto({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, testing::MatchesRegex("sotto [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

struct Mistake {
  const char* name;
  std::vector<std::string> arguments;
  const char* sentence;
};

class CliMistake : public testing::TestWithParam<Mistake> {};

TEST_P(CliMistake, is_explained_and_ends_with_2) {
  std::vector<std::string> arguments{kProgram};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  const Outcome outcome = run_program({arguments, kSamples});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, StartsWith("Error: "));
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().sentence));
}

const Mistake kMistakes[] = {
    {"nothing", {}, "say what to do"},
    {"command", {"trnscribe"}, "did you mean transcribe?"},
    {"file_as_command", {"slt_en.flac"}, "sotto transcribe slt_en.flac"},
    {"no_file", {"transcribe"}, "FILE is required"},
    {"option", {"transcribe", "--langage", "de", "slt_en.flac"}, "did you mean --language?"},
    {"choice", {"transcribe", "--device", "toaster", "slt_en.flac"}, "it takes one of auto,cpu"},
    {"number", {"transcribe", "--threads", "two", "slt_en.flac"}, "takes a whole number, not 'two'"},
    {"range", {"transcribe", "--no-speech-threshold", "7", "slt_en.flac"}, "takes 0 to 1, not 7"},
    {"format", {"transcribe", "-f", "doc", "slt_en.flac"}, "there is no output format 'doc'"},
    {"formats_without_folder", {"transcribe", "-f", "srt,vtt", "slt_en.flac"}, "--output-dir"},
    {"subtitles_of_several", {"transcribe", "-f", "srt", "slt_en.flac", "pico_de.flac"}, "--output-dir"},
    {"stdin_twice", {"transcribe", "-", "-"}, "only once"},
    {"checkpoint_of_several",
     {"transcribe", "--checkpoint", "c", "slt_en.flac", "pico_de.flac"},
     "--checkpoint names the file for one input"},
    {"highlight", {"transcribe", "--highlight-words", "slt_en.flac"}, "needs --word-timestamps"},
    {"language", {"transcribe", "-q", "--language", "klingon", "slt_en.flac"}, "klingon"},
    {"quiet_and_verbose", {"transcribe", "-q", "-v", "slt_en.flac"}, "excludes"},
    {"too_many", {"model", "info", "a", "b"}, "one argument too many"},
    {"type", {"convert", "a", "b", "--type", "q4"}, "q4"},
};
INSTANTIATE_TEST_SUITE_P(Each, CliMistake, testing::ValuesIn(kMistakes),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(CliUsage, docs_options_md_is_the_programs_own_list) {
  const Outcome outcome = sotto({"options", "--markdown"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.out, file_text(SOTTO_SOURCE_DIR "/docs/options.md"))
      << "bring it up to date: ./sotto options --markdown > docs/options.md";
}

// Fenced blocks below a line "<!-- run -->" are commands that a user will copy, so they have to work.
std::vector<std::string> runnable_blocks(const std::string& markdown) {
  static const std::string kMark = "<!-- run -->\n```sh\n";
  std::vector<std::string> blocks;
  for (size_t at = 0; (at = markdown.find(kMark, at)) != std::string::npos;) {
    at += kMark.size();
    blocks.push_back(markdown.substr(at, markdown.find("```", at) - at));
  }
  return blocks;
}

TEST(CliUsage, commands_of_the_readme_work) {
  const std::vector<std::string> blocks = runnable_blocks(file_text(SOTTO_SOURCE_DIR "/README.md"));
  ASSERT_GE(blocks.size(), 2u);
  TemporaryFolder folder;
  std::filesystem::create_directory_symlink(kSamples, folder / "samples");
  std::filesystem::create_symlink(kProgram, folder / "sotto");
  for (const std::string& block : blocks) {
    const Outcome outcome = run_program({{"/bin/sh", "-e", "-c", block}, folder.path()});
    EXPECT_EQ(outcome.exit_code, 0) << block << outcome.err;
  }
}

}  // namespace
}  // namespace sotto::test
