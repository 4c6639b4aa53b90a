#include <algorithm>
#include <cmath>
#include <string_view>

#include "audio/vad.h"
#include "base/error.h"

namespace sotto {
namespace {

constexpr double kHysteresis = 0.15;  // speech ends this far below the threshold at which it begins
constexpr double kLeastLowerThreshold = 0.01;

int64_t to_frames(double seconds, std::string_view option) {
  constexpr double kForever = 1e15;  // frames: beyond any input, and far from overflow
  if (!(seconds >= 0)) {
    throw Error(ErrorCode::usage, "The option {} of the speech detection must not be negative, but it is {}.",
                option, seconds);
  }
  return static_cast<int64_t>(std::min(std::round(seconds / kVadFrameSeconds), kForever));
}

double to_seconds(int64_t frames) {
  return static_cast<double>(frames) * kVadFrame / kSampleRate;
}

}  // namespace

SpeechRegions::SpeechRegions(const VadOptions& options)
    : threshold_(static_cast<float>(options.threshold)),
      lower_threshold_(static_cast<float>(std::max(options.threshold - kHysteresis, kLeastLowerThreshold))),
      min_speech_(to_frames(options.min_speech_duration, "min_speech_duration")),
      max_speech_(to_frames(options.max_speech_duration, "max_speech_duration")),
      min_silence_(std::max<int64_t>(1, to_frames(options.min_silence_duration, "min_silence_duration"))),
      pad_(to_frames(options.speech_pad, "speech_pad")) {
  if (!(options.threshold > 0 && options.threshold <= 1)) {
    throw Error(ErrorCode::usage,
                "The threshold of the speech detection must be above 0 and at most 1, but it is {}.",
                options.threshold);
  }
  if (max_speech_ < 2) {
    throw Error(ErrorCode::usage,
                "The option max_speech_duration of the speech detection is {}; the least is {} s.",
                options.max_speech_duration, 2 * kVadFrameSeconds);
  }
}

void SpeechRegions::push(std::span<const float> probabilities, std::vector<SpeechRegion>& finished) {
  for (const float probability : probabilities) add_frame(probability, finished);
}

void SpeechRegions::finish(std::vector<SpeechRegion>& finished) {
  if (in_speech_) close(pause_ >= 0 ? pause_ : frame_, finished);
  if (waiting_) release_waiting(std::min(pad_, frame_ - region_.end), finished);
  in_speech_ = false;
  frame_ = 0;
}

void SpeechRegions::add_frame(float probability, std::vector<SpeechRegion>& finished) {
  if (probability >= threshold_) {
    if (!in_speech_) begin(frame_);
    pause_ = -1;
  } else if (in_speech_ && probability < lower_threshold_ && pause_ < 0) {
    pause_ = frame_;
  }
  ++frame_;
  if (in_speech_ && pause_ >= 0 && frame_ - pause_ >= min_silence_) close(pause_, finished);
  if (in_speech_) watch_length(probability, finished);

  // A region further than twice the padding away cannot come into the way of the waiting one.
  const int64_t next_start = in_speech_ ? start_ : frame_;
  if (waiting_ && next_start - region_.end >= 2 * pad_) release_waiting(pad_, finished);
}

void SpeechRegions::begin(int64_t frame) {
  in_speech_ = true;
  after_cut_ = false;
  start_ = frame;
  pause_ = -1;
}

// Remembers the least likely frame of the second half of what a region may last, and cuts there when it is
// full. So no piece is shorter than half the maximum, and nothing but that place has to be remembered.
void SpeechRegions::watch_length(float probability, std::vector<SpeechRegion>& finished) {
  const int64_t current = frame_ - 1;
  const int64_t second_half = start_ + max_speech_ / 2;
  if (current < second_half) return;
  if (current == second_half || probability <= quietest_probability_) {
    quietest_ = current;
    quietest_probability_ = probability;
  }
  if (frame_ - start_ < max_speech_) return;
  const int64_t cut = std::max(quietest_, start_ + 1);
  const int64_t pause = pause_;
  close(cut, finished);
  begin(cut);
  after_cut_ = true;
  pause_ = pause < 0 ? -1 : std::max(pause, cut);
}

// Ends the open region. It waits until its padding is certain; the one that waited before it is certain now.
void SpeechRegions::close(int64_t end, std::vector<SpeechRegion>& finished) {
  in_speech_ = false;
  pause_ = -1;
  const int64_t shortest =
      after_cut_ ? 1 : std::max<int64_t>(1, min_speech_);  // a cut piece is part of long speech
  if (end - start_ < shortest) return;
  int64_t padding = std::min(pad_, start_);
  if (waiting_) {
    const int64_t gap = start_ - region_.end;
    padding = std::min(pad_, gap / 2);
    release_waiting(padding, finished);
  }
  region_ = {start_, end};
  start_padding_ = padding;
  waiting_ = true;
}

void SpeechRegions::release_waiting(int64_t end_padding, std::vector<SpeechRegion>& finished) {
  finished.push_back({to_seconds(region_.start - start_padding_), to_seconds(region_.end + end_padding)});
  waiting_ = false;
}

std::vector<SpeechRegion> find_speech(std::span<const float> samples, const VadOptions& options) {
  SpeechRegions regions(options);
  VoiceDetector detector;
  std::vector<SpeechRegion> found;
  std::vector<float> probabilities;
  constexpr size_t kPiece = 60 * kSampleRate;  // the probabilities of the whole are never held at once
  for (size_t start = 0; start < samples.size(); start += kPiece) {
    probabilities.clear();
    detector.push(samples.subspan(start, std::min(kPiece, samples.size() - start)), probabilities);
    regions.push(probabilities, found);
  }
  probabilities.clear();
  detector.finish(probabilities);
  regions.push(probabilities, found);
  regions.finish(found);
  const double duration = static_cast<double>(samples.size()) / kSampleRate;
  for (SpeechRegion& region : found) region.end = std::min(region.end, duration);
  return found;
}

}  // namespace sotto
