#include "base/utf8.h"

namespace sotto {
namespace {

// What may follow a lead byte: the range of the second byte rules out overlong forms, surrogates and codes
// above U+10FFFF; all later bytes are 80..BF. (The Unicode Standard, table 3-7.)
struct Lead {
  size_t size;  // 0: no character starts with this byte
  unsigned char second_lowest, second_highest;
};

constexpr Lead lead_of(unsigned char byte) noexcept {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

constexpr std::string_view kReplacementBytes = "\xEF\xBF\xBD";

}  // namespace

Utf8Character first_utf8_character(std::string_view text) noexcept {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const Lead lead = lead_of(byte(0));
  if (lead.size == 0) return {kReplacementCharacter, 1, false};
  if (lead.size == 1) return {byte(0), 1, true};
  char32_t code = byte(0) & (0xFFU >> (lead.size + 1));
  for (size_t i = 1; i < lead.size; ++i) {
    const unsigned char lowest = i == 1 ? lead.second_lowest : 0x80;
    const unsigned char highest = i == 1 ? lead.second_highest : 0xBF;
    if (i == text.size() || byte(i) < lowest || byte(i) > highest) return {kReplacementCharacter, i, false};
    code = (code << 6) | (byte(i) & 0x3FU);
  }
  return {code, lead.size, true};
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_utf8_character(text);
    result += character.valid ? text.substr(0, character.size) : kReplacementBytes;
    text.remove_prefix(character.size);
  }
  return result;
}

}  // namespace sotto
