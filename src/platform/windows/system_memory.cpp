#include "platform/system_memory.h"

#include "platform/windows/wide_text.h"

namespace sotto {

SystemMemory system_memory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (GlobalMemoryStatusEx(&status) == 0) return {};
  return {status.ullTotalPhys, status.ullAvailPhys};
}

}  // namespace sotto
