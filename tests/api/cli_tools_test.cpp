// `sotto model info`, `sotto convert` and `sotto bench`.
#include <nlohmann/json.hpp>

#include "api/cli_test.h"

namespace sotto::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

const std::string kNano = SOTTO_SOURCE_DIR "/models/nano/nano.safetensors";

TEST(CliModelInfo, shows_a_table_or_json) {
  const Outcome table = sotto({"model", "info", kNano});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("format"), HasSubstr("safetensors"), HasSubstr("256")));
  const Outcome json = sotto({"model", "info", "--json", kNano});
  ASSERT_EQ(json.exit_code, 0) << json.err;
  EXPECT_TRUE(nlohmann::json::parse(json.out).is_object());
}

TEST(CliModelInfo, without_a_path_shows_the_built_in_model) {
  const Outcome outcome = sotto({"model", "info"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("nano"));
}

TEST(CliModelInfo, missing_model) {
  const Outcome outcome = sotto({"model", "info", "no/such/model"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("Error: "), HasSubstr("no/such/model")));
}

TEST(CliConvert, the_written_model_transcribes_the_same) {
  TemporaryFolder folder;
  const std::string copy = (folder / "copy.safetensors").string();
  const Outcome written = sotto({"convert", kNano, copy});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  const std::string clip = kSamples + "slt_en.flac";
  const Outcome outcome = sotto({"transcribe", "-q", "--model", copy, clip});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, sotto({"transcribe", "-q", clip}).out);
}

TEST(CliConvert, does_not_replace_a_file_unasked) {
  TemporaryFolder folder;
  write_text(folder / "mine", "precious");
  const Outcome outcome = sotto({"convert", kNano, (folder / "mine").string()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--force"));
  EXPECT_EQ(file_text(folder / "mine"), "precious");
}

TEST(CliConvert, a_failure_leaves_nothing) {
  TemporaryFolder folder;
  write_text(folder / "page.bin", "<html>");
  const Outcome outcome =
      sotto({"convert", (folder / "page.bin").string(), (folder / "out.safetensors").string()});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(folder / "out.safetensors"));
}

TEST(CliBench, unknown_shape_is_a_usage_error) {
  const Outcome outcome = sotto({"bench", "--shapes", "gigantic"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("gigantic"));
  EXPECT_THAT(outcome.out, IsEmpty());
}

}  // namespace
}  // namespace sotto::test
