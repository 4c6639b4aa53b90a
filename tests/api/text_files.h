#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "support/temporary_folder.h"

namespace sotto::test {

inline std::string file_text(const std::filesystem::path& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Makes the folders above it too.
inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  write_file(path, text);
}

}  // namespace sotto::test
