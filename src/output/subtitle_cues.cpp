#include "output/subtitle_cues.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/utf8.h"
#include "output/caption_units.h"
#include "output/line_breaking.h"
#include "output/times.h"

namespace sotto {
namespace {

constexpr int64_t kMinDuration = 700;  // milliseconds
constexpr int64_t kMinGap = 80;        // two frames of film: enough for the eye to see that the text changed

int characters_in(std::string_view text) {
  int count = 0;
  for (; !text.empty(); text.remove_prefix(first_utf8_character(text).size)) ++count;
  return count;
}

void append_line(Cue& cue, std::span<const CaptionUnit> units) {
  std::string line;
  int last_word = -1;
  for (const CaptionUnit& unit : units) {
    if (unit.space_before && !line.empty()) line += ' ';
    if (unit.word >= 0 && unit.word == last_word) {
      cue.words.back().size = line.size() + unit.text.size() - cue.words.back().offset;
      cue.words.back().end = unit.end;
    } else if (unit.word >= 0) {
      cue.words.push_back({unit.start, unit.end, cue.lines.size(), line.size(), unit.text.size()});
    }
    last_word = unit.word;
    line += unit.text;
  }
  cue.lines.push_back(std::move(line));
}

Cue make_cue(std::span<const CaptionUnit> units, const LineRules& rules) {
  Cue cue{.start = units.front().start, .end = units.back().end};
  size_t begin = 0;
  for (const size_t end : split_into_lines(units, rules)) {
    append_line(cue, units.subspan(begin, end - begin));
    begin = end;
  }
  return cue;
}

void append_cues(std::vector<Cue>& cues, const Segment& segment, const LineRules& rules) {
  const std::vector<CaptionUnit> units = caption_units(segment, rules.max_line_width);
  if (units.empty()) return;
  const size_t first = cues.size();
  size_t begin = 0;
  for (const size_t end : split_into_subtitles(units, rules)) {
    cues.push_back(make_cue(std::span(units).subspan(begin, end - begin), rules));
    begin = end;
  }
  cues[first].start = to_milliseconds(segment.start);
  cues.back().end = to_milliseconds(segment.end);
}

// How long a reader needs.
int64_t reading_time(const Cue& cue, const LineRules& rules) {
  if (!(rules.max_cps > 0)) return kMinDuration;
  const double needed = std::ceil(1000 * cue.characters() / rules.max_cps);
  return std::max(kMinDuration, to_milliseconds(needed / 1000));
}

// When a cue has to be gone. A cue that is shorter than a few gaps gives only a part of its time away.
int64_t latest_end(const Cue& cue, const Cue& next) noexcept {
  return next.start - std::min(kMinGap, (next.start - cue.start) / 4);
}

void set_times(std::vector<Cue>& cues, const LineRules& rules, int64_t duration) {
  for (size_t i = 1; i < cues.size(); ++i)
    cues[i].start = std::max(cues[i].start, cues[i - 1].start + 1);  // damaged input may go back in time
  for (size_t i = 0; i < cues.size(); ++i) {
    Cue& cue = cues[i];
    const int64_t readable = cue.start + reading_time(cue, rules);
    if (i + 1 < cues.size())
      cue.end = std::min(std::max(cue.end, readable), latest_end(cue, cues[i + 1]));
    else if (duration > 0)
      cue.end = std::max(cue.end, std::min(readable, duration));
    else
      cue.end = std::max(cue.end, readable);
    cue.end = std::max(cue.end, cue.start + 1);
    int64_t earliest = cue.start;
    for (CueWord& word : cue.words) {
      word.start = std::clamp(word.start, earliest, cue.end);
      word.end = earliest = std::clamp(word.end, word.start, cue.end);
    }
  }
}

}  // namespace

int Cue::characters() const {
  int count = 0;
  for (const std::string& line : lines) count += characters_in(line);
  return count;
}

std::vector<Cue> subtitle_cues(const Transcript& transcript, const LineRules& rules) {
  std::vector<Cue> cues;
  for (const Segment& segment : transcript.segments) append_cues(cues, segment, rules);
  set_times(cues, rules, to_milliseconds(transcript.duration));
  return cues;
}

}  // namespace sotto
