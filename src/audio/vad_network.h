#pragma once

#include <array>
#include <cstddef>

#include "audio/vad_features.h"

namespace sotto {

// The detector's network, one step per two frames: a convolution over six frames, a gated recurrent unit, two
// small dense layers. tools/train_vad.py holds the same network in its trainable form and writes the weights.
class VadNetwork {
 public:
  static constexpr int kStride = 2;  // frames taken and judged by one step
  static constexpr int kDelay = 24;  // the frames judged lie this far behind the frames taken

  std::array<float, kStride> step(const VadFeatures& first, const VadFeatures& second);

 private:
  static constexpr size_t kContext = 6;
  static constexpr size_t kConv = 32;
  static constexpr size_t kHidden = 80;
  static constexpr size_t kHead = 24;
  struct Weights;
  static const Weights& weights();

  void update_hidden(const std::array<float, 3 * kHidden>& from_input,
                     const std::array<float, 3 * kHidden>& from_state);

  std::array<float, kContext * kVadBands> frames_{};  // the newest frames, the oldest first
  std::array<float, kHidden> hidden_{};
};

}  // namespace sotto
