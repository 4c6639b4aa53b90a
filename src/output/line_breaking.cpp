#include "output/line_breaking.h"

#include <algorithm>
#include <limits>

namespace sotto {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

int width_of(const CaptionUnit& unit, bool first) noexcept {
  return unit.length + (unit.space_before && !first ? 1 : 0);
}

int line_width(const LineRules& rules) noexcept {
  return std::max(rules.max_line_width, 1);
}

// Lines that are filled from the top: no other way needs fewer.
class FilledLines {
 public:
  explicit FilledLines(int width) : width_(width) {}

  void add(const CaptionUnit& unit) {
    used_ += width_of(unit, count_ == 0);
    if (count_ > 0 && used_ <= width_) return;
    ++count_;
    used_ = unit.length;
  }

  int count() const noexcept { return count_; }

 private:
  int width_;
  int count_ = 0;
  int used_ = 0;
};

// The cheapest way to reach each place, and the place before it on that way.
struct Reached {
  double cost = kInfinity;
  size_t from = 0;

  void offer(double other_cost, size_t other_from) noexcept {
    if (other_cost < cost) *this = {other_cost, other_from};
  }
};

// The costs of a subtitle are weighed against that of one more of them: one more is better than breaking off
// in the middle of a clause, or than going on after a sentence without reaching the end of the next.
constexpr double kOneMore = 60;
constexpr double kBrokenSentence = 100;
constexpr double kNearlyEmpty = 40;

double subtitle_break_cost(Break quality) noexcept {
  switch (quality) {
    case Break::kSentence:
      return 0;
    case Break::kClause:
      return 25;
    case Break::kWord:
      return 80;
    case Break::kInsideWord:
      return 180;
  }
  return 0;
}

// What it costs to end a line, as the square of characters by which a line may be off the ideal length.
double line_break_cost(Break quality) noexcept {
  switch (quality) {
    case Break::kSentence:
      return 0;
    case Break::kClause:
      return 60;
    case Break::kWord:
      return 220;
    case Break::kInsideWord:
      return 600;
  }
  return 0;
}

int lines_needed(std::span<const CaptionUnit> units, int width) {
  FilledLines lines(width);
  for (const CaptionUnit& unit : units) lines.add(unit);
  return lines.count();
}

}  // namespace

std::vector<size_t> split_into_subtitles(std::span<const CaptionUnit> units, const LineRules& rules) {
  const int max_lines = std::max(rules.max_lines, 1);
  const double capacity = static_cast<double>(line_width(rules)) * max_lines;
  std::vector<Reached> reached(units.size() + 1);
  reached[0].cost = 0;
  for (size_t begin = 0; begin < units.size(); ++begin) {
    FilledLines lines(line_width(rules));
    int length = 0;
    bool holds_sentence_end = false;
    for (size_t last = begin; last < units.size(); ++last) {
      lines.add(units[last]);
      if (lines.count() > max_lines) break;
      length += width_of(units[last], last == begin);
      const Break quality = units[last].break_after;
      const double empty = 1 - length / capacity;
      double cost = kOneMore + kNearlyEmpty * empty * empty + subtitle_break_cost(quality);
      if (quality == Break::kSentence)
        holds_sentence_end = true;
      else if (holds_sentence_end)
        cost += kBrokenSentence;
      reached[last + 1].offer(reached[begin].cost + cost, begin);
    }
  }
  std::vector<size_t> ends;
  for (size_t end = units.size(); end > 0; end = reached[end].from) ends.push_back(end);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

std::vector<size_t> split_into_lines(std::span<const CaptionUnit> units, const LineRules& rules) {
  const int width = line_width(rules);
  const auto count = static_cast<size_t>(lines_needed(units, width));
  if (count <= 1) return std::vector<size_t>(count, units.size());
  double total = 1 - static_cast<double>(count);  // the spaces that the line breaks replace
  for (size_t i = 0; i < units.size(); ++i) total += width_of(units[i], i == 0);
  const double ideal = total / static_cast<double>(count);

  std::vector<std::vector<Reached>> after_lines(count + 1, std::vector<Reached>(units.size() + 1));
  after_lines[0][0].cost = 0;
  for (size_t line = 0; line < count; ++line) {
    for (size_t begin = line; begin < units.size(); ++begin) {
      if (after_lines[line][begin].cost == kInfinity) continue;
      int length = 0;
      for (size_t last = begin; last < units.size(); ++last) {
        length += width_of(units[last], last == begin);
        if (length > width) break;
        const double off = length - ideal;
        const double cost = off * off + line_break_cost(units[last].break_after);
        after_lines[line + 1][last + 1].offer(after_lines[line][begin].cost + cost, begin);
      }
    }
  }
  std::vector<size_t> ends(count, units.size());
  for (size_t line = count - 1; line > 0; --line) ends[line - 1] = after_lines[line + 1][ends[line]].from;
  return ends;
}

}  // namespace sotto
