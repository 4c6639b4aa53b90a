#pragma once

#include <string_view>

namespace sotto {

enum class CharacterClass { letter, number, space, other };

// By Unicode's general category (L*, N*) and its White_Space property.
CharacterClass character_class(char32_t code) noexcept;

// The first piece of `text`, which must not be empty. Byte pairs are merged inside one piece, never across
// two. The rule is GPT-2's:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Bytes that are not UTF-8 count as `other`, so any bytes can be cut into pieces.
std::string_view first_piece(std::string_view text) noexcept;

}  // namespace sotto
