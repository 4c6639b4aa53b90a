#include "output/characters.h"

#include <string_view>

namespace sotto {
namespace {

struct Range {
  char32_t first, last;
};

template <size_t count>
bool in_any(const Range (&ranges)[count], char32_t code) noexcept {
  for (const Range& range : ranges)
    if (code >= range.first && code <= range.last) return true;
  return false;
}

bool is_one_of(std::u32string_view set, char32_t code) noexcept {
  return set.find(code) != set.npos;
}

}  // namespace

bool is_sentence_end(char32_t code) noexcept {
  return is_one_of(U".!?…‼⁇⁈⁉。！？．｡؟۔।॥", code);
}

bool is_clause_end(char32_t code) noexcept {
  return is_one_of(U",;:–—―，、；：､،؛", code);
}

bool is_opening(char32_t code) noexcept {
  return is_one_of(U"([{“‘«‹¿¡「『（【〔［｛〈《｢", code);
}

bool is_closing(char32_t code) noexcept {
  return is_one_of(U")]}\"'”’»›」』）】〕］｝〉》｣", code);
}

bool is_unspaced(char32_t code) noexcept {
  constexpr Range kRanges[] = {{0x2E80, 0x312F},     // radicals, CJK punctuation, kana, bopomofo
                               {0x31A0, 0x4DBF},     // more of them, extension A
                               {0x4E00, 0x9FFF},     // unified ideographs
                               {0xF900, 0xFAFF},     // compatibility ideographs
                               {0xFF00, 0xFF9F},     // full and half width forms
                               {0x20000, 0x3FFFF}};  // the other ideographs
  return in_any(kRanges, code);
}

bool clings_to_previous(char32_t code) noexcept {
  constexpr std::u32string_view kContinuing =
      U"\u3000々〻・･ーｰ〜～％ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ";
  return is_sentence_end(code) || is_clause_end(code) || is_closing(code) || is_combining(code) ||
         is_one_of(kContinuing, code);
}

bool is_combining(char32_t code) noexcept {
  constexpr Range kRanges[] = {{0x0300, 0x036F},     // accents
                               {0x0591, 0x05BD},     // Hebrew points
                               {0x064B, 0x065F},     // Arabic marks
                               {0x093A, 0x094F},     // Devanagari signs
                               {0x0E31, 0x0E3A},     // Thai vowels above and below
                               {0x0E47, 0x0E4E},     // Thai tones
                               {0x0EB1, 0x0EBC},     // Lao vowels
                               {0x0EC8, 0x0ECE},     // Lao tones
                               {0x102B, 0x103E},     // Burmese signs
                               {0x17B4, 0x17D3},     // Khmer signs
                               {0x1AB0, 0x1AFF},     // more accents
                               {0x200D, 0x200D},     // zero width joiner
                               {0x20D0, 0x20FF},     // marks around symbols
                               {0x3099, 0x309A},     // kana voicing
                               {0xFE00, 0xFE0F},     // variation selectors
                               {0x1F3FB, 0x1F3FF}};  // skin tones
  return in_any(kRanges, code);
}

}  // namespace sotto
