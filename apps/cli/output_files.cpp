#include "cli/output_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/engine.h"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

fs::path canonical_form(const fs::path& path) {
  std::error_code problem;
  const fs::path canonical = fs::weakly_canonical(path, problem);
  return problem ? path.lexically_normal() : canonical;
}

std::string name_of(const std::string& input) {
  if (input == "-") return "stdin";
  const std::string stem = fs::path(input).stem().string();
  return stem.empty() ? "transcript" : stem;
}

// An open file that is removed again unless it is kept.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target)
      : target_(target), path_(fmt::format("{}.{}.part", target.string(), getpid())) {
    // 0666: the user's umask decides, as for any other document.
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail();
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!kept_) unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void write_all(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      text.remove_prefix(static_cast<size_t>(written));
    }
  }

  void keep() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (close(descriptor) != 0 || rename(path_.c_str(), target_.c_str()) != 0) fail();
    kept_ = true;
  }

 private:
  [[noreturn]] void fail() const {
    throw Failure(fmt::format("cannot write '{}': {}", target_.string(), std::strerror(errno)));
  }

  fs::path target_;
  fs::path path_;
  int descriptor_ = -1;
  bool kept_ = false;
};

}  // namespace

OutputNames::OutputNames(fs::path folder, const std::vector<std::string>& inputs)
    : folder_(std::move(folder)) {
  for (const std::string& input : inputs)
    if (input != "-") taken_.insert(canonical_form(input));
}

bool OutputNames::is_free(const fs::path& stem, const std::vector<std::string>& formats) const {
  return std::none_of(formats.begin(), formats.end(), [&](const std::string& format) {
    return taken_.contains(canonical_form(fmt::format("{}.{}", stem.string(), format)));
  });
}

std::vector<fs::path> OutputNames::for_input(const std::string& input,
                                             const std::vector<std::string>& formats) {
  fs::path stem = folder_ / name_of(input);
  for (int number = 2; !is_free(stem, formats); ++number)
    stem = folder_ / fmt::format("{}-{}", name_of(input), number);
  std::vector<fs::path> paths;
  for (const std::string& format : formats) {
    paths.emplace_back(fmt::format("{}.{}", stem.string(), format));
    taken_.insert(canonical_form(paths.back()));
  }
  return paths;
}

void make_output_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (!fs::is_directory(folder))
    throw Failure(fmt::format("cannot make the folder '{}': {}", folder.string(),
                              problem ? problem.message() : "something else has that name"));
}

void write_whole_file(const fs::path& path, std::string_view text) {
  TemporaryFile file(path);
  file.write_all(text);
  file.keep();
}

}  // namespace sotto::cli
