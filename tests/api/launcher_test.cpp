// The scripts ./sotto and tools/count_tests.py, in a small tree of their own in which a fake cmake "builds" a
// fake program: nothing real is built here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/child_process.h"
#include "api/text_files.h"

namespace sotto::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kFakeProgram = "#!/bin/sh\necho \"program in $PWD:\" \"$@\"\n";

class Launcher : public testing::Test {
 protected:
  Launcher() {
    fs::create_directories(root_ / "elsewhere");
    fs::copy_file(SOTTO_SOURCE_DIR "/sotto", root_ / "sotto");
    for (const char* file : {"src/x.cpp", "include/x.h", "apps/x.cpp", "cmake/x.cmake", "models/x",
                             "CMakeLists.txt", "CMakePresets.json"})
      write_text(root_ / file, "");
    write_script("tools/setup", "#!/bin/sh\necho set up >> \"${0%/*}/../calls\"\n");
    write_script("program.in", kFakeProgram);
    fake_cmake(
        "mkdir -p build/release/apps/cli && cp program.in build/release/apps/cli/sotto && echo '[1/1] "
        "Linking'");
  }

  void write_script(const std::string& name, const std::string& text) {
    write_text(root_ / name, text);
    fs::permissions(root_ / name, fs::perms::owner_all);
  }

  void fake_cmake(const std::string& build) {
    write_script("bin/cmake", "#!/bin/sh\ncd '" + root_.path().string() + "'\necho \"$1\" >> calls\n" +
                                  "if [ \"$1\" = --build ]; then " + build + "; fi\n");
  }

  ProgramRun call(const std::string& script = "") const {
    const char* path = std::getenv("PATH");
    return {{script.empty() ? (root_ / "sotto").string() : script, "transcribe", "a b.wav"},
            (root_ / "elsewhere").string(),
            "/dev/null",
            {"PATH=" + (root_ / "bin").string() + ":" + (path ? path : "")}};
  }

  std::string calls() const { return fs::exists(root_ / "calls") ? file_text(root_ / "calls") : ""; }

  std::string expected_answer() const {
    return "program in " + fs::canonical(root_ / "elsewhere").string() + ": transcribe a b.wav\n";
  }

  TemporaryFolder root_;
};

TEST_F(Launcher, the_first_call_builds_and_keeps_standard_output_clean) {
  const Outcome outcome = run_program(call());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, expected_answer());
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("building"), HasSubstr("Linking")));
}

TEST_F(Launcher, the_second_call_starts_the_program_directly) {
  run_program(call());
  fs::remove(root_ / "calls");
  const Outcome outcome = run_program(call());
  EXPECT_EQ(outcome.out, expected_answer());
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(calls(), IsEmpty());
}

TEST_F(Launcher, works_through_a_symbolic_link) {
  fs::create_symlink(root_ / "sotto", root_ / "elsewhere/link");
  EXPECT_EQ(run_program(call("./link")).out, expected_answer());
}

TEST_F(Launcher, a_changed_source_is_built_again) {
  run_program(call());
  fs::remove(root_ / "calls");
  fs::last_write_time(root_ / "src/x.cpp", fs::file_time_type::clock::now() + std::chrono::hours(1));
  run_program(call());
  EXPECT_THAT(calls(), HasSubstr("--build"));
}

TEST_F(Launcher, a_failed_build_says_why_and_where_the_log_is) {
  fake_cmake("echo 'x.cpp:1: error: expected a semicolon'; exit 1");
  const Outcome outcome = run_program(call());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("expected a semicolon"), HasSubstr("build.log")));
  EXPECT_THAT(file_text(root_ / "build/release/build.log"), HasSubstr("expected a semicolon"));
}

TEST_F(Launcher, two_first_calls_at_once_build_once) {
  ChildProcess first(call());
  ChildProcess second(call());
  EXPECT_EQ(first.wait().out, expected_answer());
  EXPECT_EQ(second.wait().out, expected_answer());
  EXPECT_EQ(calls(), "set up\n--preset\n--build\n");
}

TEST(CountTests, adds_up_cases_programs_and_checks) {
  TemporaryFolder folder;
  write_text(folder / "test.xml", R"(<testsuite>
    <testcase name="unit" status="fail"><system-out>[ RUN      ] A.one
[       OK ] A.one (0 ms)
[ RUN      ] A.two
x.cpp:3: Skipped
no such hardware
[  SKIPPED ] A.two (0 ms)
[ RUN      ] A.three
[  FAILED  ] A.three (1 ms)
</system-out></testcase>
    <testcase name="script" status="run"><system-out/></testcase>
    <testcase name="crash" status="fail"><system-out>[ RUN      ] B.one
</system-out></testcase></testsuite>)");
  write_text(folder / "checks.tsv", "passed\tclang-format\t\n");
  const Outcome outcome = run_program(
      {{"/usr/bin/env", "python3", SOTTO_SOURCE_DIR "/tools/count_tests.py", folder.path().string()}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("skipped (1): no such hardware"), HasSubstr("FAILED: test/unit: A.three"),
                    HasSubstr("FAILED: test/crash: B.one (did not end)"),
                    EndsWith("3 passed, 2 failed, 1 skipped\n")));
}

}  // namespace
}  // namespace sotto::test
