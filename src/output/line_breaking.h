#pragma once

#include <span>
#include <vector>

#include "output/caption_units.h"
#include "output/line_rules.h"

namespace sotto {

// Both take units that are no longer than a line and return where each part ends, as indices into the units;
// the last is their number. No units: no parts.

// The subtitles that a text becomes: as few as hold it, divided at the ends of sentences before those of
// clauses before those of words, and none nearly empty.
std::vector<size_t> split_into_subtitles(std::span<const CaptionUnit> units, const LineRules& rules);

// The lines of one subtitle: as few as hold it, about equally long, divided by the same preference.
std::vector<size_t> split_into_lines(std::span<const CaptionUnit> units, const LineRules& rules);

}  // namespace sotto
