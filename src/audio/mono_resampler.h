#pragma once

#include <cstdint>
#include <vector>

#include "audio/ffmpeg_handles.h"

namespace sotto::ffmpeg {

// Outside these audio is nonsense or an attack: the filter's memory grows with the rate, the output with its
// inverse.
inline constexpr int kLowestRate = 1000;
inline constexpr int kHighestRate = 4'000'000;
inline constexpr int kMostChannels = 64;  // the resampler's own limit

struct ChannelLayout : AVChannelLayout {  // an owner: custom layouts hold memory
  ChannelLayout() : AVChannelLayout{} {}
  ~ChannelLayout() { av_channel_layout_uninit(this); }
  ChannelLayout(const ChannelLayout&) = delete;
  ChannelLayout& operator=(const ChannelLayout&) = delete;
};

// Turns decoded frames into 16 kHz mono float samples. The frames' rate, sample type and channels may change
// from one to the next. Mixing follows FFmpeg's own rule for `-ac 1` (for stereo the average of both; centre
// and surround channels weighted, the low-frequency channel left out); channels without a known place are
// averaged.
class MonoResampler {
 public:
  explicit MonoResampler(int channel) : channel_(channel) {}  // -1 mixes all channels

  // Appends what is ready to out; false when frames of this kind cannot be converted.
  bool convert(const AVFrame& frame, std::vector<float>& out);

  // Appends what is still held back, as at the end of the input. The next frame begins a new stretch.
  void drain(std::vector<float>& out);

  // How many 16 kHz samples of the frames so far have not come out yet.
  int64_t delay() const;

 private:
  bool fits(const AVFrame& frame) const;
  bool configure(const AVFrame& frame);
  size_t append(const uint8_t** input, int count, std::vector<float>& out);

  int channel_;
  Resampler resampler_;  // empty: the next frame decides
  int rate_ = 0;
  int format_ = -1;
  ChannelLayout layout_;
};

}  // namespace sotto::ffmpeg
