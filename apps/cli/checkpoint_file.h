#pragma once

#include <filesystem>
#include <string>

namespace sotto::cli {

// Where the run over an input keeps its checkpoint: a file in the user's cache folder (XDG_CACHE_HOME, or
// .cache in HOME) that is named after the input's absolute path. Empty when there is no such folder, or when
// the input is not a file that could be read again from the start.
std::filesystem::path checkpoint_path(const std::string& input);

// Keeps a checkpoint for this run alone: a second run over the same input, in this process or another, goes
// without one rather than mix its lines with ours.
class CheckpointFile {
 public:
  explicit CheckpointFile(
      std::filesystem::path path);  // makes the folders above it; an empty path is no checkpoint
  ~CheckpointFile();                // a checkpoint that was never written to leaves no file
  CheckpointFile(const CheckpointFile&) = delete;
  CheckpointFile& operator=(const CheckpointFile&) = delete;

  bool usable() const noexcept { return descriptor_ >= 0; }
  bool holds_earlier_run() const noexcept { return holds_earlier_run_; }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool holds_earlier_run_ = false;
};

}  // namespace sotto::cli
