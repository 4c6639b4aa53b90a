#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sotto::cli {

// Gives each input its own file names in one folder. Inputs of the same name from different folders get a
// number; a file that is itself an input is never named.
class OutputNames {
 public:
  OutputNames(std::filesystem::path folder, const std::vector<std::string>& inputs);

  // One path per format: FOLDER/NAME.FORMAT, or NAME-2.FORMAT where NAME is taken.
  std::vector<std::filesystem::path> for_input(const std::string& input,
                                               const std::vector<std::string>& formats);

 private:
  bool is_free(const std::filesystem::path& stem, const std::vector<std::string>& formats) const;

  std::filesystem::path folder_;
  std::set<std::filesystem::path> taken_;
};

// Creates the folder and those above it. Throws Failure.
void make_output_folder(const std::filesystem::path& folder);

// Writes beside the target and renames, so that nobody ever sees half a file. Throws Failure.
void write_whole_file(const std::filesystem::path& path, std::string_view text);

}  // namespace sotto::cli
