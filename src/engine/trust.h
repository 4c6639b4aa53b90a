#pragma once

#include <span>
#include <string>

#include "base/options.h"
#include "output/transcript.h"

namespace sotto {

// Whether the transcript ends in the same text three times over: then the model is caught in a loop, and the
// text before must not lead it on.
bool repeats_itself(std::span<const Segment> segments);

// Why a segment should not be relied on, in a few words; empty when nothing speaks against it. `window_ratio`
// is the compression ratio of its whole window, `before` the segments before it.
std::string suspicion(const Segment& segment, double window_ratio, const Options& options,
                      std::span<const Segment> before);

}  // namespace sotto
