#include "backend/vulkan/cache_file.h"

#include <cstdint>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "platform/process.h"

namespace sotto::vk {
namespace {
namespace fs = std::filesystem;

// The head of a file; the key and the data follow.
struct Head {
  char magic[8] = {'s', 'o', 't', 't', 'o', 'v', 'k', '1'};
  uint64_t key_bytes = 0, data_bytes = 0, data_hash = 0;
};

// FNV-1a: against damage, not against people, who could as well change the program.
uint64_t hash_of(std::span<const std::byte> bytes) {
  uint64_t hash = 14695981039346656037u;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<uint8_t>(byte)) * 1099511628211u;
  return hash;
}

}  // namespace

CacheFile::CacheFile(const fs::path& folder, std::string key) : key_(std::move(key)) {
  if (!folder.empty()) path_ = folder / fmt::format("{:016x}.bin", hash_of(std::as_bytes(std::span(key_))));
}

std::vector<std::byte> CacheFile::read() const noexcept try {
  constexpr uintmax_t kMostBytes = uintmax_t{256} << 20;
  if (path_.empty()) return {};
  std::error_code missing;
  const uintmax_t bytes = fs::file_size(path_, missing);
  const Head fresh;
  if (missing || bytes < sizeof(Head) || bytes > kMostBytes) return {};
  std::vector<std::byte> all(bytes);
  std::ifstream file(path_, std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(bytes))) return {};
  Head head;
  std::memcpy(&head, all.data(), sizeof(head));
  if (std::memcmp(head.magic, fresh.magic, sizeof(head.magic)) != 0 || head.key_bytes != key_.size() ||
      head.data_bytes != bytes - sizeof(Head) - std::min<uintmax_t>(key_.size(), bytes - sizeof(Head)))
    return {};
  const auto rest = std::span(all).subspan(sizeof(Head));
  if (std::memcmp(rest.data(), key_.data(), key_.size()) != 0) return {};
  const auto data = rest.subspan(key_.size());
  if (hash_of(data) != head.data_hash) return {};
  return {data.begin(), data.end()};
} catch (const std::exception&) {
  return {};
}

void CacheFile::write(std::span<const std::byte> data) const {
  if (path_.empty()) return;
  Head head;
  head.key_bytes = key_.size();
  head.data_bytes = data.size();
  head.data_hash = hash_of(data);
  std::error_code refused;
  fs::create_directories(path_.parent_path(), refused);
  fs::path draft = path_;
  draft += fmt::format(".{}", process_id());
  std::ofstream file(draft, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&head), sizeof(head));
  file.write(key_.data(), static_cast<std::streamsize>(key_.size()));
  file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  file.close();
  if (file) fs::rename(draft, path_, refused);
  if (!file || refused) fs::remove(draft, refused);
}

}  // namespace sotto::vk
