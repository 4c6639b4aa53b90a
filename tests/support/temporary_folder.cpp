#include "support/temporary_folder.h"

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

namespace sotto::test {
namespace fs = std::filesystem;

std::optional<fs::path> shared_path(std::string_view name) {
  fs::path path = fs::path(SOTTO_SOURCE_DIR).parent_path() / "shared" / name;
  if (!fs::exists(path)) return std::nullopt;
  return path;
}

fs::path source_path(std::string_view name) {
  const char* const moved = std::getenv("SOTTO_SOURCE_DIR");  // tests that run on another machine
  return fs::path(moved == nullptr ? SOTTO_SOURCE_DIR : moved) / name;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (fs::temp_directory_path() / "sotto_test_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made at " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

void write_file(const fs::path& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text.data(), text.size())));
}

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  std::vector<std::byte> bytes(fs::file_size(path));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

std::vector<std::byte> to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

}  // namespace sotto::test
