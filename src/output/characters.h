#pragma once

namespace sotto {

// What captions need to know about characters; each by code point.

bool is_sentence_end(char32_t code) noexcept;  // . ! ? and their kin in other scripts
bool is_clause_end(char32_t code) noexcept;    // , ; : dashes and their kin

bool is_opening(char32_t code) noexcept;  // brackets and quotes that belong to what follows
bool is_closing(char32_t code) noexcept;  // those that belong to what precedes

// Of scripts that are written without spaces, whose lines may end after nearly every character.
bool is_unspaced(char32_t code) noexcept;

// Never the first of a line in such a script: punctuation, small kana and marks that continue a syllable.
bool clings_to_previous(char32_t code) noexcept;

// Drawn on or joined with the character before it.
bool is_combining(char32_t code) noexcept;

}  // namespace sotto
