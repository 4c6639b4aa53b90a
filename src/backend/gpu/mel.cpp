#include <cmath>
#include <numbers>
#include <vector>

#include "backend/gpu/gpu_types.h"

namespace sotto::gpu {
namespace {

static_assert(kMelTransformPoints == kMelTransform && kMelSpectrumPoints == kMelBins &&
              kMelStepSamples == kMelStep);

// Window, cosines, filters, and the points that each filter covers, one behind the other.
class GpuMelFrontEnd final : public MelFrontEnd {
 public:
  GpuMelFrontEnd(const std::shared_ptr<Context>& context, size_t bins)
      : MelFrontEnd(bins),
        tables_(context, (2 * kMelTransformPoints + bins * kMelSpectrumPoints) * sizeof(float) +
                             2 * bins * sizeof(int)) {}

  const Buffer& tables() const noexcept { return tables_; }
  const float* window() const noexcept { return tables_.pointer<const float>(); }
  const float* cosines() const noexcept { return window() + kMelTransformPoints; }
  const float* filters() const noexcept { return cosines() + kMelTransformPoints; }
  const int* ranges() const noexcept {
    return reinterpret_cast<const int*>(filters() + bins_ * kMelSpectrumPoints);
  }

 private:
  Buffer tables_;
};

// First and past-the-end point that each filter covers.
std::vector<int> ranges_of(const MelTables& tables) {
  std::vector<int> ranges;
  for (size_t bin = 0; bin < tables.bins; ++bin) {
    const auto filter = std::span(tables.filters).subspan(bin * kMelSpectrumPoints, kMelSpectrumPoints);
    int first = 0, last = 0;
    for (size_t point = 0; point < filter.size(); ++point) {
      if (filter[point] == 0) continue;
      if (last == 0) first = static_cast<int>(point);
      last = static_cast<int>(point) + 1;
    }
    ranges.insert(ranges.end(), {first, last});
  }
  return ranges;
}

}  // namespace

std::unique_ptr<MelFrontEnd> GpuBackend::do_make_mel_front_end(const MelTables& tables) {
  const Entered scope(*context_);
  auto made = std::make_unique<GpuMelFrontEnd>(context_, tables.bins);
  std::vector<float> values = tables.window;
  for (size_t i = 0; i < kMelTransformPoints; ++i)
    values.push_back(static_cast<float>(
        std::cos(2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(kMelTransformPoints))));
  values.insert(values.end(), tables.filters.begin(), tables.filters.end());
  queue_.upload(made->tables().address(), std::as_bytes(std::span(values)));
  const std::vector<int> ranges = ranges_of(tables);
  queue_.upload(made->tables().address(values.size() * sizeof(float)), std::as_bytes(std::span(ranges)));
  return made;
}

void GpuBackend::do_mel(const MelFrontEnd& front_end, std::span<const float> samples, size_t audible,
                        const Rows& out) {
  if (out.count == 0) return;
  const Entered scope(*context_);
  const auto& tables = static_cast<const GpuMelFrontEnd&>(front_end);
  const int frames = static_cast<int>(out.count), bins = static_cast<int>(out.width);
  const size_t energies_at = samples.size() * sizeof(float),
               largest_at = energies_at + out.count * out.width * sizeof(float),
               blocks = blocks_for(frames, kMelFrames);
  const Buffer& memory = mel_.reserve(queue_, largest_at + blocks * sizeof(float));
  queue_.upload(memory.address(), std::as_bytes(samples));
  const MelFramesArgs energies{memory.pointer<const float>(),
                               tables.window(),
                               tables.cosines(),
                               tables.filters(),
                               tables.ranges(),
                               memory.pointer<float>(energies_at),
                               memory.pointer<float>(largest_at),
                               frames,
                               bins,
                               static_cast<int>(audible)};
  queue_.launch(kernels_.mel_frames, shape_of(energies), energies);
  const MelScaleArgs scaled{energies.energies,
                            energies.block_largest,
                            activations("mel", out),
                            static_cast<Stride>(out.stride),
                            frames,
                            bins};
  queue_.launch(kernels_.mel_scale, shape_of(scaled), scaled);
}

}  // namespace sotto::gpu
