#include "whisper/time_warping.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sotto {

std::vector<size_t> warp_rows(std::span<const float> costs, size_t rows, size_t columns) {
  enum class Step : uint8_t { diagonal, down, right };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<Step> steps((rows + 1) * (columns + 1), Step::right);
  for (size_t row = 1; row <= rows; ++row) steps[row * (columns + 1)] = Step::down;

  // Only the last two rows of the summed costs are needed; the steps remember the way.
  std::vector<float> above(columns + 1, kInfinity), current(columns + 1);
  above[0] = 0;
  for (size_t row = 1; row <= rows; ++row) {
    current[0] = kInfinity;
    for (size_t column = 1; column <= columns; ++column) {
      const float diagonal = above[column - 1], down = above[column], right = current[column - 1];
      const bool is_diagonal = diagonal < down && diagonal < right;
      const bool is_down = !is_diagonal && down < diagonal && down < right;
      const float best = is_diagonal ? diagonal : is_down ? down : right;
      steps[row * (columns + 1) + column] = is_diagonal ? Step::diagonal : is_down ? Step::down : Step::right;
      current[column] = costs[(row - 1) * columns + column - 1] + best;
    }
    std::swap(above, current);
  }

  std::vector<size_t> begins(rows, 0);
  size_t row = rows, column = columns;
  while (row > 0 && column > 0) {
    begins[row - 1] = column - 1;
    const Step step = steps[row * (columns + 1) + column];
    if (step != Step::right) --row;
    if (step != Step::down) --column;
  }
  return begins;
}

void median_filter(std::span<float> values, size_t width) {
  const auto half = static_cast<ptrdiff_t>(width / 2), count = static_cast<ptrdiff_t>(values.size());
  if (count <= half) return;
  const std::vector<float> source(values.begin(), values.end());
  std::vector<float> around(width);
  for (ptrdiff_t i = 0; i < count; ++i) {
    for (ptrdiff_t k = -half; k <= half; ++k) {
      ptrdiff_t at = i + k;
      if (at < 0) at = -at;
      if (at >= count) at = 2 * (count - 1) - at;
      around[static_cast<size_t>(k + half)] = source[static_cast<size_t>(at)];
    }
    std::nth_element(around.begin(), around.begin() + half, around.end());
    values[static_cast<size_t>(i)] = around[static_cast<size_t>(half)];
  }
}

}  // namespace sotto
