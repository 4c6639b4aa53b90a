#include "platform/system_memory.h"

#include <fstream>
#include <string>

namespace sotto {

SystemMemory system_memory() {
  SystemMemory memory;
  std::ifstream file("/proc/meminfo");  // lines of "MemTotal:  16303428 kB"
  std::string name, unit;
  for (uint64_t kilobytes = 0; file >> name >> kilobytes && std::getline(file, unit);) {
    if (name == "MemTotal:") memory.total = kilobytes * 1024;
    if (name == "MemAvailable:") memory.available = kilobytes * 1024;
  }
  return memory;
}

}  // namespace sotto
