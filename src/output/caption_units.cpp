#include "output/caption_units.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/utf8.h"
#include "output/characters.h"
#include "output/text_line.h"
#include "output/times.h"

namespace sotto {
namespace {

struct Character {
  std::string_view bytes;
  char32_t code = 0;
  bool space_before = false;
  int64_t start = 0;
  int64_t end = 0;
  int word = -1;
};

std::vector<Character> characters_of(std::string_view line) {
  std::vector<Character> characters;
  bool space = false;
  while (!line.empty()) {
    const Utf8Character next = first_utf8_character(line);
    if (next.code == ' ') {
      space = true;
    } else {
      characters.push_back({line.substr(0, next.size), next.code, space && !characters.empty()});
      space = false;
    }
    line.remove_prefix(next.size);
  }
  return characters;
}

// The characters share the time evenly.
void spread_time(std::span<Character> characters, int64_t start, int64_t end, int word) {
  const auto count = static_cast<double>(characters.size());
  const auto at = [&](size_t index) {
    return start +
           static_cast<int64_t>(static_cast<double>(end - start) * static_cast<double>(index) / count);
  };
  for (size_t i = 0; i < characters.size(); ++i) {
    characters[i].start = at(i);
    characters[i].end = at(i + 1);
    characters[i].word = word;
  }
}

// Gives the characters the times of the words that hold them. False when the words spell another text.
bool take_word_times(std::span<Character> characters, const Segment& segment, int64_t start, int64_t end) {
  size_t taken = 0;
  for (size_t index = 0; index < segment.words.size(); ++index) {
    const Word& word = segment.words[index];
    const std::string line = one_line(word.text);
    const std::vector<Character> spelled = characters_of(line);
    if (spelled.size() > characters.size() - taken) return false;
    const std::span<Character> own = characters.subspan(taken, spelled.size());
    for (size_t i = 0; i < own.size(); ++i)
      if (own[i].code != spelled[i].code) return false;
    start = std::clamp(to_milliseconds(word.start), start, end);
    const int64_t word_end = std::clamp(to_milliseconds(word.end), start, end);
    spread_time(own, start, word_end, static_cast<int>(index));
    start = word_end;
    taken += spelled.size();
  }
  return taken == characters.size();
}

bool begins_unit(const Character& before, const Character& character) noexcept {
  if (character.space_before) return true;
  if (!is_unspaced(before.code) && !is_unspaced(character.code)) return false;
  return !clings_to_previous(character.code) && !is_opening(before.code);
}

// Where a piece that begins the characters ends: at the next unit, or before it becomes too long. What is too
// long is cut, if possible, where no accent loses its letter.
size_t unit_size(std::span<const Character> characters, size_t max_length) {
  size_t size = 1;
  while (size < characters.size() && !begins_unit(characters[size - 1], characters[size])) ++size;
  if (size <= max_length) return size;
  for (size_t cut = max_length; cut > 0; --cut)
    if (!is_combining(characters[cut].code)) return cut;
  return max_length;
}

bool is_abbreviation(std::span<const Character> unit) {
  constexpr std::string_view kTitles[] = {"Mr.", "Mrs.", "Ms.", "Dr.", "St.", "Prof."};
  if (unit.back().code != '.') return false;
  if (unit.size() == 2) return !is_unspaced(unit.front().code);  // an initial
  std::string text;
  for (const Character& character : unit) text += character.bytes;
  return std::find(std::begin(kTitles), std::end(kTitles), text) != std::end(kTitles);
}

Break punctuation_break(std::span<const Character> unit, const Character& next) {
  while (unit.size() > 1 && is_closing(unit.back().code)) unit = unit.first(unit.size() - 1);
  const char32_t last = unit.back().code;
  const bool goes_on = next.code >= 'a' && next.code <= 'z';
  if (is_sentence_end(last) && !is_abbreviation(unit)) return goes_on ? Break::kClause : Break::kSentence;
  if (is_clause_end(last) || (last == '-' && unit.size() == 1)) return Break::kClause;
  return Break::kWord;
}

// Punctuation and pauses say how well the text can be divided between a unit and what follows it.
Break break_between(std::span<const Character> unit, const Character& next) {
  constexpr int64_t kPause = 500, kLongPause = 1500;  // milliseconds
  const Character& last = unit.back();
  const int64_t pause = next.start - last.end;
  if (pause >= kLongPause) return Break::kSentence;
  const Break punctuation = punctuation_break(unit, next);
  if (pause >= kPause) return std::max(punctuation, Break::kClause);
  const bool same_word = !next.space_before && last.word == next.word;
  return punctuation == Break::kWord && same_word ? Break::kInsideWord : punctuation;
}

}  // namespace

std::vector<CaptionUnit> caption_units(const Segment& segment, int max_length) {
  const std::string line = one_line(segment.text);
  std::vector<Character> characters = characters_of(line);
  const int64_t start = to_milliseconds(segment.start);
  const int64_t end = std::max(to_milliseconds(segment.end), start);
  if (!take_word_times(characters, segment, start, end)) spread_time(characters, start, end, -1);
  std::vector<CaptionUnit> units;
  for (std::span<const Character> rest = characters; !rest.empty();) {
    const size_t size = unit_size(rest, static_cast<size_t>(std::max(max_length, 1)));
    CaptionUnit unit{.length = static_cast<int>(size),
                     .space_before = rest.front().space_before,
                     .start = rest.front().start,
                     .end = rest[size - 1].end,
                     .word = rest.front().word};
    for (const Character& character : rest.first(size)) unit.text += character.bytes;
    if (size < rest.size()) unit.break_after = break_between(rest.first(size), rest[size]);
    units.push_back(std::move(unit));
    rest = rest.subspan(size);
  }
  return units;
}

}  // namespace sotto
