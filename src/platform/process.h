#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

struct ChildLimits {
  std::chrono::milliseconds time{5000};
  size_t output_bytes = size_t{1} << 20;  // of each stream; more is read and dropped
};

struct ChildOutcome {
  std::string out, err;
  int exit_code = -1;  // -1: it did not exit by itself
  int signal = 0;      // that ended it; on Windows the exception code
  bool timed_out = false;
};

// Runs a program to its end or its time limit, whichever comes first; what is past the limit is killed
// together with the programs that it started. Throws Error(io) when the program cannot be started.
ChildOutcome run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                       const ChildLimits& limits, std::string_view standard_input = {});

// "SIGSEGV", "exception 0xc0000005".
std::string signal_name(int signal);

// For the first line of a helper program that may crash or hang: no crash dumps, an end when its parent ends,
// and what libraries print on standard output goes to standard error. Returns the way to the real standard
// output.
int become_helper_process() noexcept;

// Writes the helper's one answer and ends it at once: handlers that libraries registered for the end do not
// run.
[[noreturn]] void end_helper_process(int real_output, std::string_view answer) noexcept;

// The process number, for names of temporary files.
int process_id() noexcept;

}  // namespace sotto
