#pragma once

#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sotto::test {

struct ProgramRun {
  std::vector<std::string> arguments;  // the program comes first
  std::string folder;                  // to run in; empty: the current one
  std::string standard_input = "/dev/null";
  std::vector<std::string> environment;  // NAME=value, added to the test's own
};

struct Outcome {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  std::string out;
  std::string err;
};

// A running program whose output is collected.
class ChildProcess {
 public:
  explicit ChildProcess(const ProgramRun& run);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Collects output until the condition holds; false when the program ended first.
  bool collect_until(const std::function<bool(const Outcome&)>& condition);
  void send_signal(int signal) const;
  Outcome wait();  // collects the rest

 private:
  bool collect_some();  // false at the end of both streams

  pid_t process_ = -1;
  int out_ = -1;
  int err_ = -1;
  Outcome outcome_;
};

Outcome run_program(const ProgramRun& run);

}  // namespace sotto::test
