// Decoding with FFmpeg's libraries, in process. The output follows the container's time stamps: where audio
// is missing or cannot be decoded there is silence of the same length, so that every later time stays right.

#include <algorithm>
#include <cmath>
#include <utility>

#include "audio/audio_source.h"
#include "audio/damage_log.h"
#include "audio/ffmpeg_handles.h"
#include "audio/media_file.h"
#include "audio/mono_resampler.h"
#include "audio/scrub.h"
#include "base/error.h"

namespace sotto {
namespace {

using ffmpeg::error_text;
using ffmpeg::seconds;

constexpr double kLossTolerance = 0.02;  // after a known loss, smaller gaps are not worth filling
constexpr double kJitterTolerance =
    0.1;                         // without one, time stamps may be this imprecise (browser recordings are)
constexpr double kRewind = 1.0;  // time stamps that fall back further begin a new count (joined files)
constexpr double kLongestUnknownGap = 60;  // where the container does not say how long it is
constexpr double kEndTolerance = 0.5;      // containers round the end, and codecs pad it
constexpr int kMostReadErrors = 100;       // in a row, before the rest of the file is given up

class FfmpegSource final : public AudioSource {
 public:
  FfmpegSource(ffmpeg::MediaFile media, int channel);

  size_t read(std::span<float> out) override;
  std::optional<double> duration() const override;
  std::vector<AudioDamage> damage() const override { return damage_.entries(); }

 private:
  void advance();
  void decode_next();
  void convert_frame();
  void feed_decoder();
  void send_packet();
  void place_frame();
  double gap_before_frame();
  double longest_gap() const;
  void note_loss(std::string reason, double lost_seconds);
  void finish();
  bool nothing_waits() const { return ready_next_ == ready_.size() && silence_ == 0; }
  double position() const { return static_cast<double>(produced_ + resampler_.delay()) / kSampleRate; }

  ffmpeg::MediaFile media_;
  ffmpeg::Packet packet_;
  ffmpeg::Frame frame_;
  ffmpeg::MonoResampler resampler_;
  std::optional<ffmpeg::MediaFile::End> end_;
  std::optional<double> origin_;  // the time stamp, in seconds, that is time 0 of the output
  DamageLog damage_;
  std::optional<AudioDamage> suspect_;  // a packet with a mark of damage; what follows it decides

  // What read() hands out, in this order: samples that are ready, silence, then the frame that waits behind
  // them.
  std::vector<float> ready_;
  size_t ready_next_ = 0;
  int64_t silence_ = 0;
  bool frame_waits_ = false;

  int64_t produced_ = 0;     // 16 kHz samples so far, handed out or in ready_ and silence_
  std::string lost_reason_;  // why audio before the next frame is missing; empty: none is known to be
  double lost_seconds_ = 0;  // as far as the lost packets say
  int read_errors_ = 0;
  bool finished_ = false;
};

FfmpegSource::FfmpegSource(ffmpeg::MediaFile media, int channel)
    : media_(std::move(media)),
      packet_(av_packet_alloc()),
      frame_(av_frame_alloc()),
      resampler_(channel),
      end_(media_.end()),
      origin_(media_.start()) {
  if (!packet_ || !frame_)
    throw Error(ErrorCode::out_of_memory, "There is no memory to decode {}.", media_.name);
  const int channels = media_.decoder->ch_layout.nb_channels;
  if (channel >= 0 && channels > 0 && channel >= channels) {
    throw Error(ErrorCode::bad_audio,
                "{} has no channel {}: its audio track has {} channel(s), counted from 0.", media_.name,
                channel, channels);
  }
  // Decoding up to the first sound here lets a hopeless file fail when it is opened.
  while (nothing_waits() && !finished_) advance();
  if (!nothing_waits()) return;
  if (damage_.entries().empty())
    throw Error(ErrorCode::bad_audio, "{} has an audio track without any audio.", media_.name);
  throw Error(ErrorCode::bad_audio, "{} has an audio track, but none of it can be decoded: it {}.",
              media_.name, damage_.entries().back().reason);
}

size_t FfmpegSource::read(std::span<float> out) {
  size_t filled = 0;
  while (filled < out.size()) {
    const size_t room = out.size() - filled;
    if (ready_next_ < ready_.size()) {
      const size_t count = std::min(room, ready_.size() - ready_next_);
      std::copy_n(ready_.data() + ready_next_, count, out.data() + filled);
      ready_next_ += count;
      filled += count;
    } else if (silence_ > 0) {
      const auto count = static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(room), silence_));
      std::fill_n(out.data() + filled, count, 0.0F);
      silence_ -= static_cast<int64_t>(count);
      filled += count;
    } else if (finished_) {
      break;
    } else {
      advance();
    }
  }
  return filled;
}

std::optional<double> FfmpegSource::duration() const {
  return end_ ? std::optional(end_->seconds) : std::nullopt;
}

// One step towards more samples; everything that was ready has been handed out.
void FfmpegSource::advance() {
  ready_.clear();
  ready_next_ = 0;
  if (frame_waits_) {
    convert_frame();
  } else {
    decode_next();
  }
}

void FfmpegSource::decode_next() {
  const int status = avcodec_receive_frame(media_.decoder.get(), frame_.get());
  if (status == 0) {
    if (frame_->nb_samples > 0) place_frame();
  } else if (status == AVERROR_EOF) {
    finish();
  } else {
    if (status != AVERROR(EAGAIN)) note_loss(fmt::format("cannot be decoded: {}", error_text(status)), 0);
    feed_decoder();
  }
}

void FfmpegSource::feed_decoder() {
  const int read_status = av_read_frame(media_.format.get(), packet_.get());
  if (read_status < 0) {
    if (read_status != AVERROR_EOF) {
      note_loss(fmt::format("cannot be read: {}", error_text(read_status)), 0);
      if (read_status == AVERROR_INVALIDDATA && ++read_errors_ < kMostReadErrors) return;
    }
    avcodec_send_packet(media_.decoder.get(),
                        nullptr);  // the decoder gives out what it still holds, then ends
    return;
  }
  read_errors_ = 0;
  if (packet_->stream_index == media_.stream->index) send_packet();
  av_packet_unref(packet_.get());
}

void FfmpegSource::send_packet() {
  const double length = std::max(0.0, seconds(packet_->duration, media_.stream->time_base));
  if (suspect_) damage_.add(suspect_->start, suspect_->end, suspect_->reason);
  suspect_.reset();
  if ((packet_->flags & AV_PKT_FLAG_CORRUPT) != 0) {
    suspect_ = AudioDamage{position(), position() + length, "is cut off or damaged"};
  }
  const int status = avcodec_send_packet(media_.decoder.get(), packet_.get());
  if (status < 0) note_loss(fmt::format("cannot be decoded: {}", error_text(status)), length);
}

// Puts silence before the new frame where the time line has a gap.
void FfmpegSource::place_frame() {
  const double start = position();
  const bool at_start = produced_ == 0 && resampler_.delay() == 0;
  const bool known_loss = !lost_reason_.empty();
  const double gap = gap_before_frame();
  const bool fill = gap > (known_loss ? kLossTolerance : kJitterTolerance);
  if (fill) {
    resampler_.drain(ready_);
    produced_ += static_cast<int64_t>(ready_.size());
    silence_ = std::max<int64_t>(0, std::llround((start + gap) * kSampleRate) - produced_);
    produced_ += silence_;
  }
  if (known_loss) {
    damage_.add(start, start + (fill ? gap : 0), lost_reason_);
  } else if (fill && !at_start) {  // a track may begin later than its video; that is no damage
    damage_.add(start, start + gap, "is missing from the file");
  }
  lost_reason_.clear();
  lost_seconds_ = 0;
  frame_waits_ = true;
}

// Seconds between the end of the audio so far and the frame, by its time stamp where that can be believed.
double FfmpegSource::gap_before_frame() {
  const double known_loss = std::min(lost_seconds_, longest_gap());
  if (frame_->best_effort_timestamp == AV_NOPTS_VALUE) return known_loss;
  const double stamp = seconds(frame_->best_effort_timestamp, media_.stream->time_base);
  if (!origin_) origin_ = stamp - position();
  const double gap = stamp - *origin_ - position();
  if (gap >= -kRewind && gap <= longest_gap()) return gap;
  origin_ = stamp - position() - known_loss;  // the count of time jumps: go on from here
  return known_loss;
}

double FfmpegSource::longest_gap() const {
  return end_ ? std::max(0.0, end_->seconds + kEndTolerance - position()) : kLongestUnknownGap;
}

void FfmpegSource::convert_frame() {
  frame_waits_ = false;
  const double start = position();
  const double rate = std::max(frame_->sample_rate, 1);
  if (const auto scrubbed = ffmpeg::scrub(*frame_)) {
    damage_.add(start + scrubbed->first / rate, start + scrubbed->last / rate, kNotSoundReason);
  }
  if (!resampler_.convert(*frame_, ready_)) {
    note_loss("has a sample rate or channels that cannot be converted", frame_->nb_samples / rate);
  }
  produced_ += static_cast<int64_t>(ready_.size());
  av_frame_unref(frame_.get());
}

void FfmpegSource::note_loss(std::string reason, double lost_seconds) {
  if (lost_reason_.empty()) lost_reason_ = std::move(reason);
  lost_seconds_ += lost_seconds;
}

void FfmpegSource::finish() {
  finished_ = true;
  resampler_.drain(ready_);
  produced_ += static_cast<int64_t>(ready_.size());
  // FFmpeg also marks the last packet of a WAV that was streamed to its end without a stated length.
  if (suspect_ && end_ && end_->stated) damage_.add(suspect_->start, suspect_->end, suspect_->reason);
  const bool ends_early = end_ && end_->stated && position() < end_->seconds - kEndTolerance;
  if (lost_reason_.empty() && !ends_early) return;
  const double lost_until = ends_early ? end_->seconds : position() + std::min(lost_seconds_, longest_gap());
  damage_.add(position(), lost_until,
              lost_reason_.empty() ? "is missing: the file ends early" : lost_reason_);
}

}  // namespace

std::unique_ptr<AudioSource> open_audio(const std::string& path, const AudioOptions& options) {
  return std::make_unique<FfmpegSource>(ffmpeg::open_media(path, options.track), options.channel);
}

std::unique_ptr<AudioSource> open_audio(std::unique_ptr<ByteStream> bytes, const std::string& name,
                                        const AudioOptions& options) {
  return std::make_unique<FfmpegSource>(ffmpeg::open_media(std::move(bytes), name, options.track),
                                        options.channel);
}

}  // namespace sotto
