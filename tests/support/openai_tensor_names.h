#pragma once

#include <string>

namespace sotto::test {

// A checkpoint's tensor name as OpenAI's and whisper.cpp's files spell it.
std::string openai_name(const std::string& checkpoint_name);

}  // namespace sotto::test
