#pragma once

#include "base/function_ref.h"

namespace sotto::gpu::emulated {

struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

// Runs `body` once for every thread of every block. Barriers and shuffles switch from fiber to fiber, always
// in the same order; a barrier or a shuffle that not all its threads reach ends the program with a message,
// as it would hang or give garbage on a GPU.
void run_grid(const Grid& grid, int threads, FunctionRef<void()> body);

// Blocks begin in no particular order on a GPU: the tests let them begin from the last to the first.
inline bool last_block_first = false;

}  // namespace sotto::gpu::emulated
