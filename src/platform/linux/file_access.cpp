#include "platform/file_access.h"

#include <array>

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sotto {

bool may_read_and_write(const std::filesystem::path& path) noexcept {
  return access(path.c_str(), R_OK | W_OK) == 0;
}

std::string owner_group(const std::filesystem::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return {};
  std::array<char, 4096> buffer;
  group entry{};
  group* found = nullptr;
  if (getgrgid_r(status.st_gid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->gr_name;
  return std::to_string(status.st_gid);
}

}  // namespace sotto
