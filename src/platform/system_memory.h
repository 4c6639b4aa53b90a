#pragma once

#include <cstdint>

namespace sotto {

struct SystemMemory {
  uint64_t total = 0;      // bytes; 0 where the system does not tell
  uint64_t available = 0;  // to new work, without pushing others out
};

SystemMemory system_memory();

}  // namespace sotto
