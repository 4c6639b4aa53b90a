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

// What it costs to end a subtitle, where one more subtitle costs 100: a subtitle more is better than cutting a
// word, and a word break is better than a subtitle more.
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
      return 40;
    case Break::kWord:
      return 120;
    case Break::kInsideWord:
      return 400;
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
  constexpr double kOneMore = 100, kNearlyEmpty = 40;
  const int max_lines = std::max(rules.max_lines, 1);
  const double capacity = static_cast<double>(line_width(rules)) * max_lines;
  std::vector<Reached> reached(units.size() + 1);
  reached[0].cost = 0;
  for (size_t begin = 0; begin < units.size(); ++begin) {
    FilledLines lines(line_width(rules));
    int length = 0;
    for (size_t last = begin; last < units.size(); ++last) {
      lines.add(units[last]);
      if (lines.count() > max_lines) break;
      length += width_of(units[last], last == begin);
      const double empty = 1 - length / capacity;
      const double end_cost = last + 1 == units.size() ? 0 : subtitle_break_cost(units[last].break_after);
      reached[last + 1].offer(reached[begin].cost + kOneMore + kNearlyEmpty * empty * empty + end_cost, begin);
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
  int total = 0;
  for (const CaptionUnit& unit : units) total += width_of(unit, false);
  const double ideal = (total - static_cast<double>(count - 1)) / static_cast<double>(count);

  std::vector<std::vector<Reached>> after_lines(count + 1, std::vector<Reached>(units.size() + 1));
  after_lines[0][0].cost = 0;
  for (size_t line = 0; line < count; ++line) {
    for (size_t begin = line; begin < units.size(); ++begin) {
      if (after_lines[line][begin].cost == kInfinity) continue;
      int length = 0;
      for (size_t last = begin; last < units.size(); ++last) {
        length += width_of(units[last], last == begin);
        if (length > width) break;
        const double end_cost = last + 1 == units.size() ? 0 : line_break_cost(units[last].break_after);
        const double off = length - ideal;
        after_lines[line + 1][last + 1].offer(after_lines[line][begin].cost + off * off + end_cost, begin);
      }
    }
  }
  std::vector<size_t> ends(count);
  size_t end = units.size();
  for (size_t line = count; line > 0; end = after_lines[line--][end].from) ends[line - 1] = end;
  return ends;
}

}  // namespace sotto
