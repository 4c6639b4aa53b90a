#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/transcript.h"

namespace sotto {

// How well a line or a subtitle can end at a place; better ones last.
enum class Break { kInsideWord, kWord, kClause, kSentence };

// What a line never divides: a word with its punctuation, one character of a script that is written without
// spaces, or a piece of a word that is longer than a line.
struct CaptionUnit {
  std::string text;
  int length = 0;  // characters
  bool space_before = false;
  int64_t start = 0;  // milliseconds
  int64_t end = 0;
  int word = -1;  // index of the word of the segment that gave the times; -1: they are estimated
  Break break_after = Break::kSentence;
};

// The units of a segment in order, none longer than `max_length` characters. Their times never go back and
// lie within the segment. They are those of the words where the words spell the segment's text; elsewhere the
// characters share the segment's time evenly.
std::vector<CaptionUnit> caption_units(const Segment& segment, int max_length);

}  // namespace sotto
