#include "audio/mel_filters.h"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

// Slaney's scale: linear up to 1000 Hz (15 mels), then 27 mels for each factor of 6.4.
constexpr double kHzPerMel = 200.0 / 3;
constexpr double kBreakHz = 1000;
constexpr double kBreakMel = kBreakHz / kHzPerMel;
const double kLogStep = std::log(6.4) / 27;

double mel_from_hz(double hz) {
  return hz < kBreakHz ? hz / kHzPerMel : kBreakMel + std::log(hz / kBreakHz) / kLogStep;
}

double hz_from_mel(double mel) {
  return mel < kBreakMel ? mel * kHzPerMel : kBreakHz * std::exp((mel - kBreakMel) * kLogStep);
}

}  // namespace

MelFilters::MelFilters(int filters, int bins, double highest_hz) {
  const double highest_mel = mel_from_hz(highest_hz);
  const auto corner = [&](int index) { return hz_from_mel(highest_mel * index / (filters + 1)); };
  for (int filter = 0; filter < filters; ++filter) {
    const double low = corner(filter), middle = corner(filter + 1), high = corner(filter + 2);
    Filter made{0, {}};
    for (int bin = 0; bin < bins; ++bin) {
      const double hz = highest_hz * bin / (bins - 1);
      const double height = std::min((hz - low) / (middle - low), (high - hz) / (high - middle));
      if (height <= 0) continue;
      if (made.weights.empty()) made.first_bin = static_cast<size_t>(bin);
      made.weights.push_back(static_cast<float>(height * 2 / (high - low)));
    }
    filters_.push_back(std::move(made));
  }
}

void MelFilters::apply(std::span<const float> power, std::span<float> out) const {
  for (size_t i = 0; i < filters_.size(); ++i) {
    const Filter& filter = filters_[i];
    const float* bins = power.data() + filter.first_bin;
    float sum = 0;
    for (size_t k = 0; k < filter.weights.size(); ++k) sum += filter.weights[k] * bins[k];
    out[i] = sum;
  }
}

}  // namespace sotto
