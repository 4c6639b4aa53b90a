#include "platform/process.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <thread>

#include <io.h>

#include "base/error.h"
#include "platform/windows/wide_text.h"

namespace sotto {
namespace {

using windows::Handle;

struct Pipe {
  Handle read_end, write_end;
};

// The child inherits one end only; an inherited copy of the other would keep the stream open.
void make_pipe(Pipe& pipe, bool child_writes) {
  SECURITY_ATTRIBUTES inheritable{sizeof inheritable, nullptr, TRUE};
  HANDLE read_end = nullptr, write_end = nullptr;
  if (CreatePipe(&read_end, &write_end, &inheritable, 0) == 0)
    throw Error(ErrorCode::io, "a pipe to a helper program cannot be made: {}", windows::last_error_text());
  pipe.read_end.reset(read_end);
  pipe.write_end.reset(write_end);
  SetHandleInformation(child_writes ? read_end : write_end, HANDLE_FLAG_INHERIT, 0);
}

// As CommandLineToArgvW takes it apart: backslashes count only before a quotation mark.
void append_quoted(std::wstring& line, const std::wstring& argument) {
  if (!line.empty()) line += L' ';
  line += L'"';
  size_t backslashes = 0;
  for (const wchar_t c : argument) {
    if (c == L'"') line.append(backslashes + 1, L'\\');
    backslashes = c == L'\\' ? backslashes + 1 : 0;
    line += c;
  }
  line.append(backslashes, L'\\');
  line += L'"';
}

std::wstring command_line(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  std::wstring line;
  append_quoted(line, program.wstring());
  for (const std::string& argument : arguments) append_quoted(line, windows::wide(argument));
  return line;
}

void read_all(HANDLE stream, std::string& into, size_t limit) {
  std::array<char, 65536> buffer;
  DWORD count = 0;
  while (ReadFile(stream, buffer.data(), static_cast<DWORD>(buffer.size()), &count, nullptr) != 0 &&
         count > 0)
    into.append(buffer.data(), std::min<size_t>(count, limit - std::min(limit, into.size())));
}

void write_all(HANDLE stream, std::string_view text) {
  DWORD count = 0;
  while (!text.empty() &&
         WriteFile(stream, text.data(), static_cast<DWORD>(text.size()), &count, nullptr) != 0)
    text.remove_prefix(count);
}

// A job whose processes all end when it is closed.
HANDLE make_job() {
  const HANDLE job = CreateJobObjectW(nullptr, nullptr);
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
  SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
  return job;
}

void take_exit_code(HANDLE process, ChildOutcome& outcome) {
  constexpr DWORD kFirstException = 0x80000000;  // a crash ends a process with the number of its exception
  DWORD code = 0;
  GetExitCodeProcess(process, &code);
  if (code >= kFirstException)
    outcome.signal = static_cast<int>(code);
  else
    outcome.exit_code = static_cast<int>(code);
}

}  // namespace

ChildOutcome run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                       const ChildLimits& limits, std::string_view standard_input) {
  Pipe in, out, err;
  make_pipe(in, false);
  make_pipe(out, true);
  make_pipe(err, true);
  STARTUPINFOW start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = in.read_end.get();
  start.hStdOutput = out.write_end.get();
  start.hStdError = err.write_end.get();
  PROCESS_INFORMATION started{};
  std::wstring line = command_line(program, arguments);
  if (CreateProcessW(program.c_str(), line.data(), nullptr, nullptr, TRUE,
                     CREATE_NO_WINDOW | CREATE_SUSPENDED, nullptr, nullptr, &start, &started) == 0)
    throw Error(ErrorCode::io, "{}: cannot be started: {}", program.string(), windows::last_error_text());
  const Handle process(started.hProcess), first_thread(started.hThread);
  Handle job(make_job());
  AssignProcessToJobObject(job.get(), process.get());
  ResumeThread(first_thread.get());
  in.read_end.reset();
  out.write_end.reset();
  err.write_end.reset();

  ChildOutcome outcome;
  std::thread writer([&] {
    write_all(in.write_end.get(), standard_input);
    in.write_end.reset();
  });
  std::thread out_reader([&] { read_all(out.read_end.get(), outcome.out, limits.output_bytes); });
  std::thread err_reader([&] { read_all(err.read_end.get(), outcome.err, limits.output_bytes); });
  outcome.timed_out =
      WaitForSingleObject(process.get(), static_cast<DWORD>(limits.time.count())) != WAIT_OBJECT_0;
  if (!outcome.timed_out) take_exit_code(process.get(), outcome);
  job.reset();  // ends what is left, which closes the pipes
  writer.join();
  out_reader.join();
  err_reader.join();
  return outcome;
}

std::string signal_name(int signal) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "exception 0x%08x", static_cast<unsigned>(signal));
  return text.data();
}

// The parent's job ends us with the parent.
int become_helper_process() noexcept {
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
  const int real_output = _dup(_fileno(stdout));
  _dup2(_fileno(stderr), _fileno(stdout));
  return real_output;
}

void end_helper_process(int real_output, std::string_view answer) noexcept {
  write_all(reinterpret_cast<HANDLE>(_get_osfhandle(real_output)), answer);
  TerminateProcess(GetCurrentProcess(), 0);
  for (;;) Sleep(INFINITE);
}

int process_id() noexcept {
  return static_cast<int>(GetCurrentProcessId());
}

}  // namespace sotto
