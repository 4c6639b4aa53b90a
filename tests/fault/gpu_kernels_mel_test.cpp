// The mel spectrogram on the GPU against the one of src/audio.
#include <cmath>
#include <numbers>

#include "audio/mel.h"
#include "audio/mel_filters.h"
#include "fault/kernel_test_support.h"

namespace sotto::test {
namespace {

class Samples : public AudioSource {
 public:
  explicit Samples(std::vector<float> samples) : samples_(std::move(samples)) {}
  size_t read(std::span<float> out) override {
    const size_t count = std::min(out.size(), samples_.size() - at_);
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(at_), count, out.begin());
    at_ += count;
    return count;
  }
  std::optional<double> duration() const override { return std::nullopt; }

 private:
  std::vector<float> samples_;
  size_t at_ = 0;
};

std::vector<float> sound(size_t count) {
  std::vector<float> samples = random_floats(count, 31, 0.01F);
  for (size_t i = 0; i < count; ++i)
    samples[i] +=
        0.3F * std::sin(static_cast<float>(i) * (0.05F + 0.1F * static_cast<float>(i % 16000) / 16000));
  return samples;
}

struct MelTables {
  std::vector<float> hann, cosines, filters;
  std::vector<int> ranges;
};

MelTables make_tables(size_t mels) {
  MelTables made;
  for (int i = 0; i < gpu::kMelTransform; ++i) {
    const double angle = 2 * std::numbers::pi * i / gpu::kMelTransform;
    made.hann.push_back(static_cast<float>(0.5 - 0.5 * std::cos(angle)));
    made.cosines.push_back(static_cast<float>(std::cos(angle)));
  }
  made.filters.resize(mels * gpu::kMelBins);
  made.ranges.resize(2 * mels);
  const MelFilters filters(static_cast<int>(mels), gpu::kMelBins, kSampleRate / 2.0);
  std::vector<float> power(gpu::kMelBins), out(mels);
  for (size_t bin = 0; bin < gpu::kMelBins; ++bin) {
    power[bin] = 1;
    filters.apply(power, out);
    power[bin] = 0;
    for (size_t mel = 0; mel < mels; ++mel) {
      made.filters[mel * gpu::kMelBins + bin] = out[mel];
      if (out[mel] == 0) continue;
      int* range = &made.ranges[2 * mel];
      if (range[1] == 0) range[0] = static_cast<int>(bin);
      range[1] = static_cast<int>(bin) + 1;
    }
  }
  return made;
}

TEST(GpuMel, EqualsTheFrontEndOfTheCpu) {
  constexpr size_t kSeconds = 4, kMels = 80, kHalf = gpu::kMelTransform / 2;
  const std::vector<float> audio = sound(kSeconds * kSampleRate + 77);
  Samples source(audio);
  std::vector<float> expected(kWindowFrames * kMels);
  MelStream(source, kMels).window(0, expected);

  std::vector<float> padded(kWindowFrames * kMelHop + gpu::kMelTransform);
  for (size_t i = 0; i < kHalf; ++i) padded[i] = audio[kHalf - i];
  std::copy(audio.begin(), audio.end(), padded.begin() + kHalf);
  const MelTables tables = make_tables(kMels);
  std::vector<float> energies(kWindowFrames * kMels), largest(kWindowFrames / gpu::kMelFrames);
  run_kernel("mel_frames", gpu::MelFramesArgs{padded.data(), tables.hann.data(), tables.cosines.data(),
                                              tables.filters.data(), tables.ranges.data(), energies.data(),
                                              largest.data(), kWindowFrames, kMels, kWindowFrames});
  for (const Element element : kElements) {
    KernelRows out(element, kWindowFrames, kMels, Placement::odd);
    run_kernel(
        std::string("mel_scale") + suffix(element),
        gpu::MelScaleArgs{energies.data(), largest.data(), out.data(), out.stride(), kWindowFrames, kMels});
    const std::vector<float> got = out.values();
    const float allowed = element == Element::f32 ? 2e-5F : element == Element::f16 ? 1e-3F : 8e-3F;
    float worst = 0;
    for (size_t i = 0; i < got.size(); ++i) worst = std::max(worst, std::abs(got[i] - expected[i]));
    EXPECT_LT(worst, allowed) << suffix(element);
  }
}

}  // namespace
}  // namespace sotto::test
