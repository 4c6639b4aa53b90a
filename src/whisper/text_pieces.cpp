#include "whisper/text_pieces.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "base/utf8.h"

namespace sotto {
namespace {

struct CodeRange {
  char32_t first, last;
};

#include "whisper/unicode_tables.inc"

constexpr CodeRange kSpaces[] = {{0x9, 0xD},       {0x20, 0x20},     {0x85, 0x85},     {0xA0, 0xA0},
                                 {0x1680, 0x1680}, {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F},
                                 {0x205F, 0x205F}, {0x3000, 0x3000}};

bool contains(std::span<const CodeRange> ranges, char32_t code) noexcept {
  const auto range = std::lower_bound(ranges.begin(), ranges.end(), code,
                                      [](const CodeRange& r, char32_t c) { return r.last < c; });
  return range != ranges.end() && range->first <= code;
}

constexpr CharacterClass ascii_class(char32_t code) noexcept {
  if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z')) return CharacterClass::letter;
  if (code >= '0' && code <= '9') return CharacterClass::number;
  if (code == ' ' || (code >= '\t' && code <= '\r')) return CharacterClass::space;
  return CharacterClass::other;
}

struct Classified {
  CharacterClass kind;
  size_t size;
};

Classified first_character(std::string_view text) noexcept {
  const Utf8Character character = first_utf8_character(text);
  return {character.valid ? character_class(character.code) : CharacterClass::other, character.size};
}

size_t contraction_size(std::string_view text) noexcept {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

struct Run {
  size_t size = 0;       // bytes
  size_t last_size = 0;  // of its last character
};

Run run_of(CharacterClass kind, std::string_view text) noexcept {
  Run run;
  while (run.size < text.size()) {
    const Classified next = first_character(text.substr(run.size));
    if (next.kind != kind) break;
    run.size += next.size;
    run.last_size = next.size;
  }
  return run;
}

size_t piece_size(std::string_view text) noexcept {
  if (const size_t size = contraction_size(text)) return size;
  const size_t lead = text.size() > 1 && text.front() == ' ' ? 1 : 0;
  const std::string_view word = text.substr(lead);
  const CharacterClass kind = first_character(word).kind;
  if (kind != CharacterClass::space) return lead + run_of(kind, word).size;
  const Run spaces = run_of(CharacterClass::space, text);
  // White space before a word leaves its last character to that word's piece, if that is not all there is.
  const bool word_follows = spaces.size < text.size();
  return word_follows && spaces.size > spaces.last_size ? spaces.size - spaces.last_size : spaces.size;
}

}  // namespace

CharacterClass character_class(char32_t code) noexcept {
  if (code < 0x80) return ascii_class(code);
  if (contains(kLetters, code)) return CharacterClass::letter;
  if (contains(kNumbers, code)) return CharacterClass::number;
  return contains(kSpaces, code) ? CharacterClass::space : CharacterClass::other;
}

std::string_view first_piece(std::string_view text) noexcept {
  return text.substr(0, piece_size(text));
}

}  // namespace sotto
