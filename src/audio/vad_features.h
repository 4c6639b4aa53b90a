#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "audio/vad.h"

struct kiss_fftr_state;

namespace sotto {

inline constexpr int kVadBands = 40;
using VadFeatures = std::array<float, kVadBands>;

// What the detector's network sees of the sound: per frame the log energies of 40 mel bands, less the slowly
// followed level of the whole, so that the recording's loudness does not matter. tools/train_vad.py computes
// the same values.
class VadFrontEnd {
 public:
  VadFrontEnd();
  ~VadFrontEnd();

  // Takes the next kVadFrame samples. Frame k looks at samples before and after its own, so the call with
  // block k completes frame k - kLag; its features are returned, or null while there is none yet.
  static constexpr int kLag = 1;
  const VadFeatures* push(std::span<const float, kVadFrame> samples);

 private:
  static constexpr int kWindow = 400;
  static constexpr int kFft = 512;
  static constexpr int kBins = kFft / 2 + 1;
  struct Band {
    int first = 0;  // bin
    int count = 0;
    int weights = 0;  // index into weights_
  };
  struct FreeFft {
    void operator()(kiss_fftr_state* state) const noexcept;
  };

  void make_bands();
  void filter(std::span<const float, kVadFrame> samples);
  void compute_power();
  void compute_features();

  std::unique_ptr<kiss_fftr_state, FreeFft> fft_;
  std::array<float, kWindow> hann_{};
  std::array<Band, kVadBands> bands_{};
  std::vector<float> weights_;

  // The filtered samples of the newest frames: the window of a frame reaches 120 samples to both sides of its
  // own 160.
  static constexpr int kReach = (kWindow - kVadFrame) / 2;
  std::array<float, kVadFrame + kVadFrame + kReach> history_{};
  std::array<float, kBins> power_{};
  VadFeatures features_{};
  float last_sample_ = 0;
  float last_filtered_ = 0;
  double level_ = 0;
  int64_t blocks_ = 0;
};

}  // namespace sotto
