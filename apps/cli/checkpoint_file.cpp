#include "cli/checkpoint_file.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

// FNV-1a: a name that stays the same from run to run. Two inputs that share one are no danger, since the
// engine compares the whole path before it goes on from a checkpoint.
uint64_t stable_hash(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

fs::path cache_folder() {
  const auto absolute_path = [](const char* variable) {
    const char* value = std::getenv(variable);
    const fs::path path = value ? value : "";
    return path.is_absolute() ? path : fs::path();
  };
  if (const fs::path cache = absolute_path("XDG_CACHE_HOME"); !cache.empty()) return cache;
  const fs::path home = absolute_path("HOME");
  return home.empty() ? home : home / ".cache";
}

// A transcript is nobody else's business.
void make_private_folder(const fs::path& folder) {
  std::error_code ignored;
  if (fs::create_directories(folder, ignored)) fs::permissions(folder, fs::perms::owner_all, ignored);
}

}  // namespace

fs::path checkpoint_path(const std::string& input) {
  std::error_code problem;
  const fs::path cache = cache_folder();
  if (cache.empty() || !fs::is_regular_file(input, problem)) return {};
  const fs::path absolute = fs::absolute(input, problem);
  if (problem) return {};
  return cache / "sotto" / "resume" / fmt::format("{:016x}.jsonl", stable_hash(absolute.native()));
}

CheckpointFile::CheckpointFile(fs::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  make_private_folder(path_.parent_path());
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor_ < 0) return;
  struct stat status {};
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0 || fstat(descriptor_, &status) != 0) {
    close(descriptor_);
    descriptor_ = -1;
    return;
  }
  holds_earlier_run_ = status.st_size > 0;
}

CheckpointFile::~CheckpointFile() {
  if (descriptor_ < 0) return;
  struct stat status {};
  // Without links the name is free already, or belongs to another run by now.
  const bool is_empty = fstat(descriptor_, &status) == 0 && status.st_nlink > 0 && status.st_size == 0;
  if (is_empty) unlink(path_.c_str());
  close(descriptor_);
}

}  // namespace sotto::cli
