#pragma once

#include <span>
#include <vector>

#include "output/transcript.h"
#include <sotto/sotto.h>

namespace sotto::capi {

// Segments as the C API shows them. The views point into the segments, which must outlive them.
class SegmentViews {
 public:
  explicit SegmentViews(std::span<const Segment> segments);
  std::span<const sotto_segment> all() const noexcept { return views_; }

 private:
  std::vector<std::vector<sotto_word>> words_;
  std::vector<sotto_segment> views_;
};

}  // namespace sotto::capi
