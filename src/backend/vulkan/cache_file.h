#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace sotto::vk {

// A file of things that can be made again, kept for one device and driver. What is read back is what was
// written: a file that was cut off, changed or made for another key is as good as none.
class CacheFile {
 public:
  // In this folder, named after the key; an empty folder: nothing is read or kept.
  CacheFile(const std::filesystem::path& folder, std::string key);

  const std::filesystem::path& path() const noexcept { return path_; }
  std::vector<std::byte> read() const noexcept;
  void write(std::span<const std::byte> data) const;  // a file that cannot be written is left out

 private:
  std::filesystem::path path_;
  std::string key_;
};

}  // namespace sotto::vk
