#pragma once

#include <string>
#include <vector>

#include "cli/engine.h"
#include "cli/terminal.h"

namespace sotto::cli {

// What `sotto transcribe` was asked for.
struct TranscribeRequest {
  std::vector<std::string> arguments;  // files, folders and "-"
  std::vector<std::string> formats = {"txt"};
  std::string output_folder;  // empty: standard output
  OptionsOwner options = make_options();
};

// Does it, and returns the exit code. A bad file is reported and the others go on; what concerns all of them
// throws Failure.
int run_transcribe(const TranscribeRequest& request, Console& console);

}  // namespace sotto::cli
