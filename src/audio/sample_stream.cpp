// Numbers without a container, from a caller's stream of bytes.
extern "C" {
#include <libavutil/channel_layout.h>
}

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#include "audio/audio_source.h"
#include "audio/damage_log.h"
#include "audio/mono_resampler.h"
#include "audio/scrub.h"
#include "base/error.h"

namespace sotto {
namespace {

constexpr size_t kFramesAtOnce = 4096;
using ffmpeg::kHighestRate;
using ffmpeg::kLowestRate;
using ffmpeg::kMostChannels;

struct TypeFacts {
  size_t bytes;
  AVSampleFormat name;
};

TypeFacts facts_of(SampleType type) {
  switch (type) {
    case SampleType::u8:
      return {1, AV_SAMPLE_FMT_U8};
    case SampleType::s16:
      return {2, AV_SAMPLE_FMT_S16};
    case SampleType::s32:
      return {4, AV_SAMPLE_FMT_S32};
    case SampleType::f32:
      return {4, AV_SAMPLE_FMT_FLT};
    case SampleType::f64:
      return {8, AV_SAMPLE_FMT_DBL};
  }
  throw Error(ErrorCode::usage, "raw audio has an unknown type of sample");
}

// One sample at `place`, with full scale at 1.
float sample_at(const std::byte* place, SampleType type) {
  const auto load = [place]<class T>(T value) {
    std::memcpy(&value, place, sizeof value);
    return value;
  };
  switch (type) {
    case SampleType::u8:
      return static_cast<float>(static_cast<int>(load(uint8_t{})) - 128) / 128;
    case SampleType::s16:
      return static_cast<float>(load(int16_t{})) / 32768;
    case SampleType::s32:
      return static_cast<float>(load(int32_t{}) / 2147483648.0);
    case SampleType::f32:
      return load(float{});
    case SampleType::f64: {
      const double value = load(double{});
      return is_sound(value) ? static_cast<float>(value) : INFINITY;  // is_sound refuses both alike
    }
  }
  return 0;
}

class SampleStream final : public AudioSource {
 public:
  SampleStream(std::unique_ptr<ByteStream> bytes, const SampleFormat& format, std::optional<double> seconds,
               const AudioOptions& options)
      : bytes_(std::move(bytes)),
        format_(format),
        facts_(facts_of(format.type)),
        seconds_(seconds),
        resampler_(options.channel),
        buffer_(kFramesAtOnce * frame_bytes()) {}

  size_t read(std::span<float> out) override {
    size_t filled = 0;
    while (filled < out.size()) {
      if (next_ == ready_.size()) {
        if (ended_) break;
        advance();
        continue;
      }
      const size_t count = std::min(out.size() - filled, ready_.size() - next_);
      std::copy_n(ready_.data() + next_, count, out.data() + filled);
      next_ += count;
      filled += count;
    }
    return filled;
  }

  std::optional<double> duration() const override { return seconds_; }
  std::vector<AudioDamage> damage() const override { return damage_.entries(); }

 private:
  size_t frame_bytes() const { return facts_.bytes * static_cast<size_t>(format_.channels); }
  double position() const { return static_cast<double>(frames_) / format_.rate; }

  void advance() {
    ready_.clear();
    next_ = 0;
    const int64_t got = bytes_->read(std::span(buffer_).subspan(held_));
    const bool failed = got < 0 || static_cast<size_t>(got) > buffer_.size() - held_;
    if (failed) damage_.add(position(), position(), "cannot be read any further");
    if (failed || got == 0) {
      finish();
      return;
    }
    held_ += static_cast<size_t>(got);
    const size_t frames = held_ / frame_bytes();
    if (frames == 0) return;
    if (format_.channels == 1 && format_.rate == kSampleRate) {
      take_as_they_are(frames);
    } else {
      resample(frames);
    }
    frames_ += static_cast<int64_t>(frames);
    held_ -= frames * frame_bytes();
    std::memmove(buffer_.data(), buffer_.data() + frames * frame_bytes(), held_);
  }

  void take_as_they_are(size_t frames) {
    ready_.resize(frames);
    for (size_t i = 0; i < frames; ++i) {
      ready_[i] = sample_at(buffer_.data() + i * facts_.bytes, format_.type);
      if (is_sound(ready_[i])) continue;
      ready_[i] = 0;
      const double start = position() + static_cast<double>(i) / kSampleRate;
      damage_.add(start, start + 1.0 / kSampleRate, kNotSoundReason);
    }
  }

  void resample(size_t frames) {
    const ffmpeg::Frame frame(av_frame_alloc());
    if (!frame) throw std::bad_alloc();
    frame->format = facts_.name;
    frame->sample_rate = format_.rate;
    frame->nb_samples = static_cast<int>(frames);
    av_channel_layout_default(&frame->ch_layout, format_.channels);
    if (av_frame_get_buffer(frame.get(), 0) < 0) throw std::bad_alloc();
    std::memcpy(frame->data[0], buffer_.data(), frames * frame_bytes());
    if (const auto scrubbed = ffmpeg::scrub(*frame))
      damage_.add(position() + static_cast<double>(scrubbed->first) / format_.rate,
                  position() + static_cast<double>(scrubbed->last) / format_.rate, kNotSoundReason);
    if (!resampler_.convert(*frame, ready_))
      throw Error(ErrorCode::bad_audio, "Raw audio of {} Hz and {} channel(s) cannot be converted.",
                  format_.rate, format_.channels);
  }

  void finish() {
    ended_ = true;
    if (held_ > 0) damage_.add(position(), position(), "ends within a sample");
    resampler_.drain(ready_);
  }

  std::unique_ptr<ByteStream> bytes_;
  const SampleFormat format_;
  const TypeFacts facts_;
  const std::optional<double> seconds_;
  ffmpeg::MonoResampler resampler_;
  std::vector<std::byte> buffer_;
  size_t held_ = 0;  // bytes in the buffer: less than a frame between calls
  std::vector<float> ready_;
  size_t next_ = 0;
  int64_t frames_ = 0;
  bool ended_ = false;
  DamageLog damage_;
};

}  // namespace

std::unique_ptr<AudioSource> audio_from_stream(std::unique_ptr<ByteStream> bytes, const SampleFormat& format,
                                               std::optional<double> seconds, const AudioOptions& options) {
  if (format.rate < kLowestRate || format.rate > kHighestRate)
    throw Error(ErrorCode::usage, "a sample rate of {} Hz is not one of sound; it should be {} to {}",
                format.rate, kLowestRate, kHighestRate);
  if (format.channels < 1 || format.channels > kMostChannels)
    throw Error(ErrorCode::usage, "raw audio has 1 to {} channels, not {}", kMostChannels, format.channels);
  if (options.channel >= format.channels)
    throw Error(ErrorCode::bad_audio, "The audio has no channel {}: it has {} channel(s), counted from 0.",
                options.channel, format.channels);
  return std::make_unique<SampleStream>(std::move(bytes), format, seconds, options);
}

}  // namespace sotto
