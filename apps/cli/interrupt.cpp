#include "cli/interrupt.h"

#include <csignal>

#include <unistd.h>

#include "cli/engine.h"

namespace sotto::cli {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

extern "C" void on_interrupt(int) {
  if (g_interrupted) _exit(kExitFailed);
  g_interrupted = 1;
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
  return g_interrupted != 0;
}

}  // namespace sotto::cli
