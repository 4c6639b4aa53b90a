#include "audio/scrub.h"

#include <algorithm>
#include <span>

#include "audio/damage_log.h"

namespace sotto::ffmpeg {
namespace {

// One plane of the frame; packed formats have a single plane in which the channels take turns.
template <class T>
std::span<T> plane(const AVFrame& frame, int index, int values_per_sample) {
  return {reinterpret_cast<T*>(frame.extended_data[index]),
          static_cast<size_t>(frame.nb_samples) * static_cast<size_t>(values_per_sample)};
}

template <class T>
std::optional<SampleRange> scrub_as(AVFrame& frame) {
  const int channels = frame.ch_layout.nb_channels;
  const bool planar = av_sample_fmt_is_planar(static_cast<AVSampleFormat>(frame.format)) != 0;
  const int planes = planar ? channels : 1;
  const int values_per_sample = planar ? 1 : channels;
  SampleRange range{frame.nb_samples, 0};
  bool writable = false;
  for (int index = 0; index < planes; ++index) {
    const auto clean = [](T value) { return is_sound(static_cast<double>(value)); };
    const std::span<T> before = plane<T>(frame, index, values_per_sample);
    if (std::all_of(before.begin(), before.end(), clean)) continue;
    if (!writable && av_frame_make_writable(&frame) < 0) return std::nullopt;
    writable = true;
    const std::span<T> values = plane<T>(frame, index, values_per_sample);
    for (size_t i = 0; i < values.size(); ++i) {
      if (clean(values[i])) continue;
      values[i] = 0;
      const int sample = static_cast<int>(i) / values_per_sample;
      range = {std::min(range.first, sample), std::max(range.last, sample + 1)};
    }
  }
  return range.last > 0 ? std::optional(range) : std::nullopt;
}

}  // namespace

std::optional<SampleRange> scrub(AVFrame& frame) {
  switch (frame.format) {
    case AV_SAMPLE_FMT_FLT:
    case AV_SAMPLE_FMT_FLTP:
      return scrub_as<float>(frame);
    case AV_SAMPLE_FMT_DBL:
    case AV_SAMPLE_FMT_DBLP:
      return scrub_as<double>(frame);
    default:
      return std::nullopt;
  }
}

}  // namespace sotto::ffmpeg
