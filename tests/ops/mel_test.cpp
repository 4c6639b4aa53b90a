// The log-mel spectrogram on devices that compute it, against its definition in double.
#include <cmath>
#include <complex>
#include <numbers>

#include "ops/op_test_support.h"

namespace sotto::test {
namespace {

// Triangles of changing width: what the filters look like, not what they are.
MelTables made_up_tables(size_t bins) {
  MelTables tables;
  tables.bins = bins;
  for (size_t i = 0; i < kMelTransformPoints; ++i)
    tables.window.push_back(static_cast<float>(
        0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / kMelTransformPoints)));
  tables.filters.assign(bins * kMelSpectrumPoints, 0.0f);
  for (size_t bin = 0; bin < bins; ++bin)
    for (size_t point = 2 * bin; point < std::min(3 * bin + 4, kMelSpectrumPoints); ++point)
      tables.filters[bin * kMelSpectrumPoints + point] = 0.01f * static_cast<float>(1 + (point + bin) % 5);
  return tables;
}

std::vector<double> log_energies(const MelTables& tables, std::span<const float> samples) {
  std::vector<double> power(kMelSpectrumPoints), energies;
  for (size_t point = 0; point < power.size(); ++point) {
    std::complex<double> sum = 0;
    for (size_t i = 0; i < kMelTransformPoints; ++i)
      sum += std::polar(
          double{samples[i]} * tables.window[i],
          -2 * std::numbers::pi * static_cast<double>(point * i % kMelTransformPoints) / kMelTransformPoints);
    power[point] = std::norm(sum);
  }
  for (size_t bin = 0; bin < tables.bins; ++bin) {
    double energy = 0;
    for (size_t point = 0; point < power.size(); ++point)
      energy += tables.filters[bin * kMelSpectrumPoints + point] * power[point];
    energies.push_back(std::log10(std::max(energy, 1e-10)));
  }
  return energies;
}

using MelTest = OnBackend;

TEST_P(MelTest, MatchesItsDefinition) {
  if (!backend().computes_mel()) GTEST_SKIP() << "it leaves the mel spectrogram to the host";
  for (const size_t bins : {5, 80}) {
    constexpr size_t kFrames = 21, kAudible = 18;
    const MelTables tables = made_up_tables(bins);
    const std::vector<float> samples =
        random_values(kFrames * kMelStepSamples + kMelTransformPoints - kMelStepSamples, 5, 0.2f);
    const auto front_end = backend().make_mel_front_end(tables);
    const OwnedRows out = allocate_rows(backend(), kFrames, bins);
    backend().mel(*front_end, samples, kAudible, out);
    const std::vector<float> mel = download(backend(), out);

    std::vector<double> expected;
    for (size_t frame = 0; frame < kFrames; ++frame) {
      std::vector<double> row(bins, -10.0);
      if (frame < kAudible) row = log_energies(tables, std::span(samples).subspan(frame * kMelStepSamples));
      expected.insert(expected.end(), row.begin(), row.end());
    }
    const double lowest = *std::max_element(expected.begin(), expected.end()) - 8;
    for (size_t i = 0; i < mel.size(); ++i) {
      const double wanted = (std::max(expected[i], lowest) + 4) / 4;
      ASSERT_NEAR(mel[i], wanted, 2e-5 + type().step(wanted)) << "value " << i << " of " << bins << " bins";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MelTest, testing::ValuesIn(backend_cases(Types::one_per_memory)),
                         backend_case_name);

}  // namespace
}  // namespace sotto::test
