#pragma once

namespace sotto::cli {

// From now on the first Ctrl-C (or a polite request to end, SIGTERM) only sets a flag, so that the work can
// stop at a good place and keep what is done; the second ends the program at once.
void catch_interrupts();
bool interrupted() noexcept;

}  // namespace sotto::cli
