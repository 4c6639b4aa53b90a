// Interrupted runs of `sotto transcribe`, and runs that go on from there.
#include <csignal>

#include <nlohmann/json.hpp>

#include "api/cli_test.h"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// Six minutes: long enough that an interrupt after the first lines always comes in the middle.
class CliResume : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome made = run_program({{"/usr/bin/env", "ffmpeg", "-v", "error", "-stream_loop", "16", "-i",
                                       kSamples + "bdl_en_long.flac", long_file_}});
    if (made.exit_code != 0) GTEST_SKIP() << "the ffmpeg program is needed to make a long file";
  }

  ProgramRun transcribe(std::vector<std::string> arguments = {}) const {
    arguments.insert(arguments.begin(), {kProgram, "transcribe", "--beam-size", "1", long_file_});
    return {arguments, "", "/dev/null", {"XDG_CACHE_HOME=" + (folder_ / "cache").string()}};
  }

  // The run's outcome when the signal comes after its first lines of text.
  static Outcome interrupted(const ProgramRun& run, int signal) {
    ChildProcess child(run);
    EXPECT_TRUE(child.collect_until([](const Outcome& outcome) {
      return std::count(outcome.out.begin(), outcome.out.end(), '\n') >= 3;
    }));
    child.send_signal(signal);
    return child.wait();
  }

  std::vector<fs::path> checkpoints() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_ / "cache/sotto/resume"))
      found.push_back(entry.path());
    return found;
  }

  TemporaryFolder folder_;
  std::string long_file_ = (folder_ / "long.wav").string();
};

TEST_F(CliResume, an_interrupted_and_resumed_run_gives_the_same_as_one_that_was_not) {
  const Outcome whole = run_program(transcribe({"-q"}));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(checkpoints(), IsEmpty());

  const Outcome first = interrupted(transcribe(), SIGINT);
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_THAT(first.err, AllOf(HasSubstr("stopped at"), HasSubstr("--resume")));
  EXPECT_THAT(whole.out, StartsWith(first.out));
  EXPECT_THAT(first.out.size(), Lt(whole.out.size()));
  ASSERT_THAT(checkpoints(), SizeIs(1));
  const auto access = fs::status(checkpoints().front()).permissions();
  EXPECT_EQ(access & (fs::perms::group_all | fs::perms::others_all), fs::perms::none);

  // Killed this time, so that nothing can be tidied up.
  const Outcome second = interrupted(transcribe({"--resume"}), SIGKILL);
  EXPECT_EQ(second.signal, SIGKILL);

  const Outcome last = run_program(transcribe({"--resume"}));
  EXPECT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(last.out, whole.out);
  EXPECT_THAT(last.err, Not(HasSubstr("starting")));
  EXPECT_THAT(checkpoints(), IsEmpty());
}

TEST_F(CliResume, without_the_same_options_it_starts_over_and_says_so) {
  interrupted(transcribe(), SIGINT);
  const Outcome outcome = interrupted(transcribe({"--resume", "--language", "en"}), SIGINT);
  EXPECT_THAT(outcome.err, HasSubstr("had another input, model or options"));
}

TEST_F(CliResume, a_polite_request_to_end_leaves_whole_files_of_all_inputs) {
  const fs::path target = folder_ / "out";
  const std::string second = (folder_ / "second.wav").string();
  fs::copy_file(long_file_, second);
  ChildProcess child(transcribe({second, "-o", target.string(), "-f", "json"}));
  ASSERT_TRUE(child.collect_until([](const Outcome& outcome) { return !outcome.err.empty(); }));
  child.send_signal(SIGTERM);
  const Outcome outcome = child.wait();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("stopped"));
  for (const auto& entry : fs::directory_iterator(target)) {
    EXPECT_EQ(entry.path().extension(), ".json");
    EXPECT_FALSE(nlohmann::json::parse(file_text(entry.path())).at("complete"));
  }
}

TEST_F(CliResume, several_interrupted_files_go_on_together) {
  const std::string second = (folder_ / "second.wav").string();
  fs::copy_file(kSamples + "pico_en_short.flac", second);
  const Outcome first = interrupted(transcribe({second}), SIGINT);
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_THAT(first.out,
              AllOf(StartsWith("==> " + long_file_ + " <==\n"), HasSubstr("==> " + second + " <==\n")));
  EXPECT_THAT(first.err, AllOf(HasSubstr("of 2 files are done"), HasSubstr("--resume")));
  EXPECT_THAT(checkpoints(), SizeIs(testing::Ge(1u)));
}

TEST(CliResumeShort, nothing_to_resume_is_said_and_no_harm) {
  const Outcome outcome = sotto({"transcribe", "--resume", kSamples + "pico_en_short.flac"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("there is no interrupted run"));
  EXPECT_THAT(outcome.out, HasSubstr("He still kept"));
}

TEST(CliResumeShort, works_without_a_cache_folder) {
  const Outcome outcome = run_program({command({"transcribe", "-q", kSamples + "pico_en_short.flac"}),
                                       "",
                                       "/dev/null",
                                       {"XDG_CACHE_HOME=/dev/null"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
}

}  // namespace
}  // namespace sotto::test
