#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "audio/audio_source.h"

namespace sotto {

inline constexpr int kMelHop = 160;  // samples per mel frame
inline constexpr int kMelFramesPerSecond = 100;
inline constexpr int kWindowFrames = 3000;  // mel frames of one 30 s window

// The samples that a window's mels are made of: frame f of those from f * kMelHop on, 400 of them. What is
// before the audio is mirrored, what is after it is zero.
struct WindowSamples {
  std::vector<float> samples;
  size_t audible_frames = 0;  // the others are silence
};

// The mels that MelStream::window gives for these samples.
std::vector<float> mel_of(const WindowSamples& window, int mel_bins);

// For those who compute mels elsewhere: the window of a transform, and the filters, [mel bins][201].
std::vector<float> mel_transform_window();
std::vector<float> mel_filter_table(int mel_bins);

// The log-mel spectrogram of a stream, as the reference computes it: 400-point Hann window, hop 160, Slaney
// mels, log10, clamped to 8 below the window's maximum, (x + 4) / 4. Only the frames from the last window on
// are kept.
class MelStream {
 public:
  MelStream(AudioSource& source, int mel_bins);
  ~MelStream();

  // The 30 s window that begins at this frame, as kWindowFrames rows of mel_bins values; past the end of the
  // audio there is silence. Frames before first_frame are forgotten: first_frame must not go back.
  void window(size_t first_frame, std::span<float> out);

  // The same window before the mels are computed. A stream gives either the one or the other.
  WindowSamples samples(size_t first_frame);

  // Reads ahead to frame `frame` and tells whether the audio reaches beyond it.
  bool reaches(size_t frame);

  // Mel frames of the whole audio, once its end has been seen.
  std::optional<size_t> total_frames() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto
