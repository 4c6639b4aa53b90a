#include "cli/input_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

// Only for looking through folders: a file that is named on the command line may have any extension.
constexpr std::array<std::string_view, 40> kMediaExtensions{
    "3gp",  "aac", "ac3", "aif",  "aifc", "aiff", "amr", "ape", "asf", "au",   "avi", "caf",  "dts", "eac3",
    "flac", "flv", "m4a", "m4b",  "m4v",  "mka",  "mkv", "mov", "mp2", "mp3",  "mp4", "mpeg", "mpg", "mts",
    "oga",  "ogg", "ogv", "opus", "ra",   "spx",  "ts",  "tta", "wav", "webm", "wma", "wmv"};

bool has_media_extension(const fs::path& path) {
  std::string extension = path.extension().string();
  if (extension.empty()) return false;
  extension.erase(0, 1);
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return std::binary_search(kMediaExtensions.begin(), kMediaExtensions.end(), extension);
}

bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

std::vector<std::string> media_files_below(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code problem;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, problem);
  for (; !problem && at != fs::recursive_directory_iterator(); at.increment(problem)) {
    std::error_code unreadable;
    if (is_hidden(at->path())) {
      if (at->is_directory(unreadable)) at.disable_recursion_pending();
    } else if (at->is_regular_file(unreadable) && has_media_extension(at->path())) {
      files.push_back(at->path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void add_folder(const std::string& folder, Inputs& inputs, Console& console) {
  const std::vector<std::string> found = media_files_below(folder);
  if (found.empty()) {
    console.error(fmt::format("the folder '{}' holds no audio or video files", folder));
    ++inputs.failed;
    return;
  }
  console.info(
      fmt::format("{}: {} audio or video file{}", folder, found.size(), found.size() == 1 ? "" : "s"));
  inputs.files.insert(inputs.files.end(), found.begin(), found.end());
}

}  // namespace

Inputs find_inputs(const std::vector<std::string>& arguments, Console& console) {
  Inputs inputs;
  for (const std::string& argument : arguments) {
    std::error_code problem;
    const fs::file_status status = fs::status(argument, problem);
    if (argument == "-") {
      inputs.files.push_back(argument);
    } else if (fs::is_directory(status)) {
      add_folder(argument, inputs, console);
    } else if (fs::exists(status)) {
      inputs.files.push_back(argument);
    } else {
      const bool missing = status.type() == fs::file_type::not_found;
      console.error(fmt::format("cannot read '{}': {}", argument,
                                missing ? "there is no such file" : problem.message()));
      ++inputs.failed;
    }
  }
  return inputs;
}

}  // namespace sotto::cli
