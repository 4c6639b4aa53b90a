#include "platform/process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

extern char** environ;

namespace sotto {
namespace {

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const noexcept { return value_; }
  void reset(int value = -1) noexcept {
    if (value_ >= 0) close(value_);
    value_ = value;
  }

 private:
  int value_;
};

struct Pipe {
  Descriptor read_end, write_end;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(ErrorCode::io, "a pipe to a helper program cannot be made: {}", std::strerror(errno));
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
};

// A file in memory and not a pipe: a helper that reads nothing cannot make us wait, nor raise SIGPIPE here.
int input_file(std::string_view text) {
  const int file = memfd_create("input", MFD_CLOEXEC);
  const bool written =
      file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (!written || lseek(file, 0, SEEK_SET) != 0) {
    const int reason = errno;
    if (file >= 0) close(file);
    throw Error(ErrorCode::io, "the input of a helper program cannot be written: {}", std::strerror(reason));
  }
  return file;
}

class SpawnSettings {
 public:
  SpawnSettings(int in, int out, int err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  pid_t start(const std::filesystem::path& program, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), program.string());
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_t child = -1;
    const int problem =
        posix_spawn(&child, program.c_str(), &actions_, &attributes_, pointers.data(), environ);
    if (problem != 0)
      throw Error(ErrorCode::io, "{}: cannot be started: {}", program.string(), std::strerror(problem));
    return child;
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Reads what is there now; closes at the end of the stream.
void drain(Descriptor& stream, std::string& into, size_t limit) {
  std::array<char, 65536> buffer;
  while (stream.get() >= 0) {
    const ssize_t count = read(stream.get(), buffer.data(), buffer.size());
    if (count > 0) {
      into.append(buffer.data(), std::min(static_cast<size_t>(count), limit - std::min(limit, into.size())));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    stream.reset();
  }
}

// Takes the child's status if it has ended.
bool has_ended(pid_t child, ChildOutcome& outcome) {
  int status = 0;
  const pid_t ended = waitpid(child, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  if (ended == child && WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (ended == child && WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  return true;
}

// A process that hangs inside the kernel cannot be killed before the kernel lets it go: waiting for it has an
// end too, and what is left of it goes with our own end.
void kill_child(pid_t child) {
  kill(-child, SIGKILL);
  ChildOutcome ignored;
  const auto patience = Clock::now() + std::chrono::milliseconds(500);
  while (!has_ended(child, ignored) && Clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

}  // namespace

ChildOutcome run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                       const ChildLimits& limits, std::string_view standard_input) {
  Pipe out, err;
  const Descriptor in(input_file(standard_input));
  const pid_t child =
      SpawnSettings(in.get(), out.write_end.get(), err.write_end.get()).start(program, arguments);
  out.write_end.reset();
  err.write_end.reset();

  constexpr int kLookAgain = 20;  // ms: an end is seen at once by its closed pipes, unless others hold them
  ChildOutcome outcome;
  const auto deadline = Clock::now() + limits.time;
  for (bool ended = false; !ended;) {
    if (Clock::now() >= deadline) {
      kill_child(child);
      outcome.timed_out = true;
    }
    const bool both_closed = out.read_end.get() < 0 && err.read_end.get() < 0;
    std::array<pollfd, 2> streams{{{out.read_end.get(), POLLIN, 0}, {err.read_end.get(), POLLIN, 0}}};
    if (!outcome.timed_out) poll(streams.data(), streams.size(), both_closed ? 1 : kLookAgain);
    ended = outcome.timed_out || has_ended(child, outcome);
    drain(out.read_end, outcome.out, limits.output_bytes);
    drain(err.read_end, outcome.err, limits.output_bytes);
  }
  return outcome;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

int become_helper_process() noexcept {
  const rlimit no_dumps{0, 0};
  setrlimit(RLIMIT_CORE, &no_dumps);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int real_output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  return real_output;
}

void end_helper_process(int real_output, std::string_view answer) noexcept {
  while (!answer.empty()) {
    const ssize_t written = write(real_output, answer.data(), answer.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(EXIT_FAILURE);
    answer.remove_prefix(static_cast<size_t>(written));
  }
  _exit(EXIT_SUCCESS);
}

int process_id() noexcept {
  return getpid();
}

}  // namespace sotto
