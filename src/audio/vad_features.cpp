#include "audio/vad_features.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <kiss_fftr.h>

#include "audio/damage_log.h"
#include "base/error.h"

namespace sotto {
namespace {

constexpr double kLowestFrequency = 80;
constexpr double kHighestFrequency = 7600;
constexpr float kDirectCurrentPole = 0.98F;  // a high-pass filter at about 50 Hz
constexpr float kFloor = 1e-10F;             // the power of 16-bit rounding
constexpr double kLevelFloor = -20;          // log power; below this there is nothing to normalise to
constexpr int64_t kLevelFrames = 300;        // the level is an average over about 3 s
constexpr float kFeatureScale = 0.25F;

double to_mel(double frequency) {
  return 1127 * std::log1p(frequency / 700);
}
double from_mel(double mel) {
  return 700 * std::expm1(mel / 1127);
}

}  // namespace

void VadFrontEnd::FreeFft::operator()(kiss_fftr_state* state) const noexcept {
  kiss_fftr_free(state);
}

VadFrontEnd::VadFrontEnd() : fft_(kiss_fftr_alloc(kFft, 0, nullptr, nullptr)) {
  if (!fft_) throw Error(ErrorCode::out_of_memory, "There is no memory for the speech detector.");
  for (int i = 0; i < kWindow; ++i) {
    hann_[static_cast<size_t>(i)] =
        static_cast<float>(0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / kWindow));
  }
  make_bands();
}

VadFrontEnd::~VadFrontEnd() = default;

// Triangles of equal width on the mel scale. Their weights sum to 1 over the energy of the window: white
// noise of power p gives p in each band.
void VadFrontEnd::make_bands() {
  double window_energy = 0;
  for (const float value : hann_) window_energy += static_cast<double>(value) * value;
  const double low = to_mel(kLowestFrequency);
  const double step = (to_mel(kHighestFrequency) - low) / (kVadBands + 1);
  for (int b = 0; b < kVadBands; ++b) {
    const double left = from_mel(low + b * step);
    const double middle = from_mel(low + (b + 1) * step);
    const double right = from_mel(low + (b + 2) * step);
    Band& band = bands_[static_cast<size_t>(b)];
    band.weights = static_cast<int>(weights_.size());
    double sum = 0;
    for (int bin = 0; bin < kBins; ++bin) {
      const double frequency = static_cast<double>(bin) * kSampleRate / kFft;
      const double weight =
          std::min((frequency - left) / (middle - left), (right - frequency) / (right - middle));
      if (weight <= 0) continue;
      if (band.count == 0) band.first = bin;
      ++band.count;
      weights_.push_back(static_cast<float>(weight));
      sum += weight;
    }
    const double scale = 1 / (sum * window_energy);
    for (int i = 0; i < band.count; ++i)
      weights_[static_cast<size_t>(band.weights + i)] *= static_cast<float>(scale);
  }
}

const VadFeatures* VadFrontEnd::push(std::span<const float, kVadFrame> samples) {
  filter(samples);
  if (blocks_++ < kLag) return nullptr;
  compute_power();
  compute_features();
  return &features_;
}

// Shifts the history by one block and appends the new one without its direct current.
void VadFrontEnd::filter(std::span<const float, kVadFrame> samples) {
  std::copy(history_.begin() + kVadFrame, history_.end(), history_.begin());
  float* out = history_.data() + history_.size() - kVadFrame;
  for (int i = 0; i < kVadFrame; ++i) {
    const float raw = samples[static_cast<size_t>(i)];
    const float sample = is_sound(raw) ? raw : 0.0F;
    if (blocks_ == 0 && i == 0) last_sample_ = sample;  // a constant from the start on is no step
    last_filtered_ = sample - last_sample_ + kDirectCurrentPole * last_filtered_;
    if (std::abs(last_filtered_) < 1e-15F)
      last_filtered_ = 0;  // the tail must not slow down in subnormal numbers
    last_sample_ = sample;
    out[i] = last_filtered_;
  }
}

void VadFrontEnd::compute_power() {
  std::array<float, kFft> windowed{};
  for (size_t i = 0; i < kWindow; ++i) windowed[i] = history_[i] * hann_[i];
  std::array<kiss_fft_cpx, kBins> spectrum;
  kiss_fftr(fft_.get(), windowed.data(), spectrum.data());
  for (size_t i = 0; i < kBins; ++i)
    power_[i] = spectrum[i].r * spectrum[i].r + spectrum[i].i * spectrum[i].i;
}

void VadFrontEnd::compute_features() {
  double sum = 0;
  for (size_t b = 0; b < kVadBands; ++b) {
    const Band& band = bands_[b];
    float energy = kFloor;
    for (int i = 0; i < band.count; ++i) {
      energy += weights_[static_cast<size_t>(band.weights + i)] * power_[static_cast<size_t>(band.first + i)];
    }
    features_[b] = std::log(energy);
    sum += features_[b];
  }
  const int64_t frames = blocks_ - kLag;
  level_ += (sum / kVadBands - level_) / static_cast<double>(std::min(frames, kLevelFrames));
  const auto reference = static_cast<float>(std::max(level_, kLevelFloor));
  for (float& value : features_) value = (value - reference) * kFeatureScale;
}

}  // namespace sotto
