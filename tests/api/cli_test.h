#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/child_process.h"
#include "api/text_files.h"

namespace sotto::test {

inline const std::string kProgram = SOTTO_PROGRAM;
inline const std::string kSamples = SOTTO_SOURCE_DIR "/samples/";

inline std::vector<std::string> command(std::initializer_list<std::string> arguments) {
  std::vector<std::string> all{kProgram};
  all.insert(all.end(), arguments);
  return all;
}

inline Outcome sotto(std::initializer_list<std::string> arguments) {
  return run_program({command(arguments)});
}

}  // namespace sotto::test
