#include "platform/directories.h"

#include <cstdlib>

namespace sotto {
namespace {

// The XDG rules: the variable when it is an absolute path, else the folder below HOME.
std::filesystem::path xdg_directory(const char* variable, const char* below_home) {
  if (const char* value = std::getenv(variable); value != nullptr && value[0] == '/')
    return std::filesystem::path(value) / "sotto";
  return home_directory() / below_home / "sotto";
}

}  // namespace

std::filesystem::path home_directory() {
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] != '\0' ? home : "/tmp";
}

std::filesystem::path user_cache_directory() {
  return xdg_directory("XDG_CACHE_HOME", ".cache");
}
std::filesystem::path user_config_directory() {
  return xdg_directory("XDG_CONFIG_HOME", ".config");
}
std::filesystem::path user_data_directory() {
  return xdg_directory("XDG_DATA_HOME", ".local/share");
}

}  // namespace sotto
