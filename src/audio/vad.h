#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audio/audio_source.h"

namespace sotto {

inline constexpr int kVadFrame = 160;  // samples that one speech probability stands for
inline constexpr double kVadFrameSeconds = static_cast<double>(kVadFrame) / kSampleRate;

// Names and meaning follow faster-whisper's VadOptions; all durations in seconds.
struct VadOptions {
  double threshold = 0.5;              // speech probability from which a frame is speech
  double min_speech_duration = 0.25;   // shorter bursts are dropped
  double max_speech_duration = 1e300;  // longer regions are cut at their quietest place
  double min_silence_duration = 2.0;   // a pause shorter than this does not split a region
  double speech_pad = 0.4;             // added on both sides, never overlapping
};

struct SpeechRegion {
  double start = 0;  // seconds on the input's time line
  double end = 0;
};

// How likely each frame of 16 kHz audio is speech: a small recurrent network over log-mel energies
// (docs/vad.md). The result does not depend on how the samples are cut into pieces, and memory does not grow
// with the input. Samples that are not sound (NaN, infinite, beyond any range) count as 0.
class VoiceDetector {
 public:
  VoiceDetector();
  ~VoiceDetector();
  VoiceDetector(VoiceDetector&&) noexcept;
  VoiceDetector& operator=(VoiceDetector&&) noexcept;

  // Appends the probabilities that are final; they come about 0.27 s after their samples.
  void push(std::span<const float> samples, std::vector<float>& probabilities);

  // Appends the rest, so that there is one value for each begun frame, and makes ready for a new input.
  void finish(std::vector<float>& probabilities);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Turns the probabilities of a stream into regions: speech begins where the threshold is reached and ends
// where the probability stays under a lower threshold for the minimum silence.
class SpeechRegions {
 public:
  explicit SpeechRegions(const VadOptions& options);  // throws Error(usage)

  // Appends the regions that are final, in order and without overlap.
  void push(std::span<const float> probabilities, std::vector<SpeechRegion>& finished);

  // Appends the rest, taking the last frame's end as the end of the input, and makes ready for a new input.
  void finish(std::vector<SpeechRegion>& finished);

 private:
  struct Frames {  // a region before padding, [start, end) in frames
    int64_t start = 0;
    int64_t end = 0;
  };
  void begin(int64_t frame);
  void add_frame(float probability, std::vector<SpeechRegion>& finished);
  void watch_length(float probability, std::vector<SpeechRegion>& finished);
  void close(int64_t end, std::vector<SpeechRegion>& finished);
  void release_waiting(int64_t end_padding, std::vector<SpeechRegion>& finished);

  float threshold_;
  float lower_threshold_;
  int64_t min_speech_;
  int64_t max_speech_;
  int64_t min_silence_;
  int64_t pad_;

  int64_t frame_ = 0;  // frames seen
  bool in_speech_ = false;
  bool after_cut_ = false;  // the open region continues one that was cut for its length
  int64_t start_ = 0;       // of the open region
  int64_t pause_ = -1;      // where the pause that may end the open region began; -1: no pause
  int64_t quietest_ = 0;    // where the open region would be cut
  float quietest_probability_ = 0;

  bool waiting_ = false;       // a region whose padding depends on where the next one begins
  Frames region_{};            // that region
  int64_t start_padding_ = 0;  // its padding on the left
};

// Both steps at once for audio in memory; regions end where the samples end at the latest.
std::vector<SpeechRegion> find_speech(std::span<const float> samples, const VadOptions& options = {});

}  // namespace sotto
