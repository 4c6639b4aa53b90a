#include "platform/file_access.h"

#include <io.h>

namespace sotto {

bool may_read_and_write(const std::filesystem::path& path) noexcept {
  constexpr int kReadAndWrite = 6;
  return _waccess(path.c_str(), kReadAndWrite) == 0;
}

// Devices are not files here, so nobody has to join a group.
std::string owner_group(const std::filesystem::path&) {
  return {};
}

}  // namespace sotto
