#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sotto::test {

// A file or folder beside the repository ("fixtures/micro_v2_51865"), where it exists. Tests skip when it
// does not.
std::optional<std::filesystem::path> shared_path(std::string_view name);

// A file of the repository.
std::filesystem::path source_path(std::string_view name);

// An empty folder that goes away with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view text);
std::vector<std::byte> read_file(const std::filesystem::path& path);

std::vector<std::byte> to_bytes(std::string_view text);

}  // namespace sotto::test
