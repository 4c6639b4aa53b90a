#include "audio/mono_resampler.h"

extern "C" {
#include <libavutil/channel_layout.h>
#include <libavutil/opt.h>
}

#include <algorithm>
#include <cmath>

#include "audio/audio_source.h"

namespace sotto::ffmpeg {
namespace {

// The reference implementations hear 16-bit samples, and a model's doubtful words hang on the last bits.
float to_sixteen_bits(float sample) {
  constexpr float kScale = 32768;
  return std::clamp(std::nearbyint(sample * kScale), -kScale, kScale - 1) / kScale;
}

// Mixes with the given weight of each channel, or with FFmpeg's own where there are none; empty when that is
// impossible.
Resampler make_resampler(const AVFrame& frame, const std::vector<double>& weights) {
  ChannelLayout input;
  if (av_channel_layout_copy(&input, &frame.ch_layout) < 0) return nullptr;
  if (input.order == AV_CHANNEL_ORDER_UNSPEC) av_channel_layout_default(&input, frame.ch_layout.nb_channels);
  if (weights.empty() && input.order != AV_CHANNEL_ORDER_NATIVE) return nullptr;
  AVChannelLayout mono = AV_CHANNEL_LAYOUT_MONO;
  SwrContext* raw = nullptr;
  const int status =
      swr_alloc_set_opts2(&raw, &mono, AV_SAMPLE_FMT_FLT, kSampleRate, &input,
                          static_cast<AVSampleFormat>(frame.format), frame.sample_rate, 0, nullptr);
  Resampler resampler(raw);
  if (status < 0) return nullptr;
  av_opt_set_sample_fmt(raw, "internal_sample_fmt", AV_SAMPLE_FMT_FLTP, 0);
  // FFmpeg normalises its mixing weights for integer output only, but a mix must not be louder than its parts
  // here either.
  av_opt_set_double(raw, "rematrix_maxval", 1.0, 0);
  if (!weights.empty() && swr_set_matrix(raw, weights.data(), static_cast<int>(weights.size())) < 0)
    return nullptr;
  if (swr_init(raw) < 0) return nullptr;
  return resampler;
}

}  // namespace

bool MonoResampler::convert(const AVFrame& frame, std::vector<float>& out) {
  if (resampler_ && !fits(frame)) drain(out);
  if (!resampler_ && !configure(frame)) return false;
  append(const_cast<const uint8_t**>(frame.extended_data), frame.nb_samples, out);
  return true;
}

void MonoResampler::drain(std::vector<float>& out) {
  if (!resampler_) return;
  while (append(nullptr, 0, out) > 0) {
  }
  resampler_.reset();
}

int64_t MonoResampler::delay() const {
  return resampler_ ? swr_get_delay(resampler_.get(), kSampleRate) : 0;
}

bool MonoResampler::fits(const AVFrame& frame) const {
  return frame.sample_rate == rate_ && frame.format == format_ &&
         av_channel_layout_compare(&frame.ch_layout, &layout_) == 0;
}

bool MonoResampler::configure(const AVFrame& frame) {
  const int channels = frame.ch_layout.nb_channels;
  if (frame.sample_rate < kLowestRate || frame.sample_rate > kHighestRate) return false;
  if (channels < 1 || channels > kMostChannels || channel_ >= channels) return false;

  Resampler resampler;
  if (channel_ >= 0) {
    std::vector<double> only_one(static_cast<size_t>(channels), 0.0);
    only_one[static_cast<size_t>(channel_)] = 1;
    resampler = make_resampler(frame, only_one);
  } else {
    resampler = make_resampler(frame, {});
    if (!resampler)
      resampler = make_resampler(frame, std::vector<double>(static_cast<size_t>(channels), 1.0 / channels));
  }
  if (!resampler) return false;
  if (av_channel_layout_copy(&layout_, &frame.ch_layout) < 0) return false;
  rate_ = frame.sample_rate;
  format_ = frame.format;
  resampler_ = std::move(resampler);
  return true;
}

size_t MonoResampler::append(const uint8_t** input, int count, std::vector<float>& out) {
  constexpr int kLeastRoom = 256;  // draining yields more than is counted beforehand
  const int room = std::max(swr_get_out_samples(resampler_.get(), count), kLeastRoom);
  const size_t before = out.size();
  out.resize(before + static_cast<size_t>(room));
  auto* target = reinterpret_cast<uint8_t*>(out.data() + before);
  const int produced = std::max(swr_convert(resampler_.get(), &target, room, input, count), 0);
  out.resize(before + static_cast<size_t>(produced));
  for (size_t i = before; i < out.size(); ++i) out[i] = to_sixteen_bits(out[i]);
  return static_cast<size_t>(produced);
}

}  // namespace sotto::ffmpeg
