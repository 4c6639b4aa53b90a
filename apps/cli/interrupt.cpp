#include "cli/interrupt.h"

#include <atomic>
#include <csignal>

#include <unistd.h>

#include "cli/engine.h"

namespace sotto::cli {
namespace {

// Written by the signal handler on whichever thread it runs, read by all.
std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler must not wait for a lock");

extern "C" void on_interrupt(int) {
  if (g_interrupted.exchange(true)) _exit(kExitFailed);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept {
  return g_interrupted;
}

}  // namespace sotto::cli
