#pragma once

#include <optional>

#include "audio/ffmpeg_handles.h"

namespace sotto::ffmpeg {

struct SampleRange {
  int first;
  int last;  // one past the end
};

// Sets the samples of a floating-point frame that are not sound (is_sound) to 0, before the resampler would
// spread them over their neighbours. Returns the range that holds them, if there are any.
std::optional<SampleRange> scrub(AVFrame& frame);

}  // namespace sotto::ffmpeg
