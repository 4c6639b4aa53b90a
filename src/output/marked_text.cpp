#include "output/marked_text.h"

#include <algorithm>

namespace sotto {

std::vector<int64_t> highlight_times(const Cue& cue) {
  const auto count = static_cast<int64_t>(cue.words.size());
  if (count == 0 || cue.end - cue.start < count) return {};
  std::vector<int64_t> times{cue.start};
  for (int64_t i = 1; i < count; ++i) {
    const int64_t latest = cue.end - (count - i);  // a millisecond for each that follows
    times.push_back(std::clamp(cue.words[static_cast<size_t>(i)].start, times.back() + 1, latest));
  }
  times.push_back(cue.end);
  return times;
}

}  // namespace sotto
