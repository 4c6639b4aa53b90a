#include "api/child_process.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace sotto::test {
namespace {

void require(bool worked, const char* what) {
  if (!worked) throw std::runtime_error(what);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& added) {
  std::vector<std::string> all = added;
  for (char** entry = environ; *entry; ++entry) {
    const std::string inherited = *entry;
    const std::string name = inherited.substr(0, inherited.find('=') + 1);
    const bool replaced = std::any_of(added.begin(), added.end(), [&](const std::string& own) {
      return own.compare(0, name.size(), name) == 0;
    });
    if (!replaced) all.push_back(inherited);
  }
  return all;
}

bool drain(int& descriptor, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count > 0) {
    into.append(buffer.data(), static_cast<size_t>(count));
    return true;
  }
  close(std::exchange(descriptor, -1));
  return false;
}

}  // namespace

ChildProcess::ChildProcess(const ProgramRun& run) {
  int out[2], err[2];
  require(pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0, "cannot make a pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, run.standard_input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  if (!run.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, run.folder.c_str());
  std::vector<std::string> arguments = run.arguments;
  std::vector<std::string> environment = environment_with(run.environment);
  const int problem = posix_spawn(&process_, arguments[0].c_str(), &actions, nullptr,
                                  pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  out_ = out[0];
  err_ = err[0];
  if (problem != 0) process_ = -1;
  require(problem == 0, "cannot start the program");
}

ChildProcess::~ChildProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (out_ >= 0) close(out_);
  if (err_ >= 0) close(err_);
}

bool ChildProcess::collect_some() {
  std::array<pollfd, 2> streams{{{out_, POLLIN, 0}, {err_, POLLIN, 0}}};  // poll passes over closed ones (-1)
  if (out_ < 0 && err_ < 0) return false;
  require(poll(streams.data(), streams.size(), -1) > 0, "cannot wait for output");
  if (streams[0].revents) drain(out_, outcome_.out);
  if (streams[1].revents) drain(err_, outcome_.err);
  return out_ >= 0 || err_ >= 0;
}

bool ChildProcess::collect_until(const std::function<bool(const Outcome&)>& condition) {
  while (!condition(outcome_))
    if (!collect_some()) return condition(outcome_);
  return true;
}

void ChildProcess::send_signal(int signal) const {
  kill(process_, signal);
}

Outcome ChildProcess::wait() {
  while (collect_some()) {
  }
  int status = 0;
  require(waitpid(std::exchange(process_, -1), &status, 0) > 0, "cannot wait for the program");
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
  return outcome_;
}

Outcome run_program(const ProgramRun& run) {
  return ChildProcess(run).wait();
}

}  // namespace sotto::test
