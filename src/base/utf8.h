#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sotto {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

struct Utf8Character {
  char32_t code = kReplacementCharacter;
  size_t size = 0;  // bytes; of a malformed sequence the part that one replacement character stands for
  bool valid = false;
};

// The character that `text`, which must not be empty, begins with.
Utf8Character first_utf8_character(std::string_view text) noexcept;

// Every malformed or cut-off sequence becomes one U+FFFD per maximal subpart, as the Unicode Standard
// recommends (chapter 3, "U+FFFD Substitution of Maximal Subparts").
std::string replace_invalid_utf8(std::string_view text);

}  // namespace sotto
