#pragma once

#include <string>
#include <string_view>

namespace sotto {

// A text as one line of valid UTF-8: line breaks and other control characters, which would end a cue or hide
// in a file, become a space together with the spaces around them, and the ends are trimmed. Empty where there
// is nothing to read.
std::string one_line(std::string_view text);

void replace_all(std::string& text, std::string_view from, std::string_view to);

}  // namespace sotto
