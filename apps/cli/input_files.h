#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"

namespace sotto::cli {

struct Inputs {
  std::vector<std::string> files;  // "-" is standard input
  int failed = 0;                  // arguments that name nothing usable; each has been reported
};

// Folders become the audio and video files below them, in order of name; hidden ones are left out.
Inputs find_inputs(const std::vector<std::string>& arguments, Console& console);

}  // namespace sotto::cli
