#include "audio/mel.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "audio/mel_filters.h"
#include "base/error.h"
#include "support/temporary_folder.h"
#include "unit/audio/audio_tools.h"

namespace sotto::test {
namespace {

constexpr int kBins = 80;

std::vector<float> noise(size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-0.5F, 0.5F);
  std::vector<float> samples(count);
  for (size_t i = 0; i < count; ++i)
    samples[i] = value(random) * (0.1F + static_cast<float>(i % 50'000) / 50'000);
  return samples;
}

// Hands out its samples in pieces of changing, odd sizes.
class ChunkedSource final : public AudioSource {
 public:
  explicit ChunkedSource(std::vector<float> samples) : samples_(std::move(samples)) {}
  size_t read(std::span<float> out) override {
    const size_t wanted = 1 + (step_ += 613) % 4099;
    const size_t count = std::min({wanted, out.size(), samples_.size() - next_});
    std::copy_n(samples_.data() + next_, count, out.data());
    next_ += count;
    return count;
  }
  std::optional<double> duration() const override { return std::nullopt; }

 private:
  std::vector<float> samples_;
  size_t next_ = 0, step_ = 0;
};

std::vector<float> window_at(MelStream& mel, size_t frame, size_t bins = kBins) {
  std::vector<float> out(kWindowFrames * bins);
  mel.window(frame, out);
  return out;
}

std::vector<float> only_window(const std::vector<float>& samples, size_t frame = 0) {
  const auto source = audio_from_samples(samples);
  MelStream mel(*source, kBins);
  return window_at(mel, frame);
}

// The definition in its slowest form, in double, for one frame; log10 values that are not yet scaled.
std::vector<double> slow_frame(const std::vector<float>& samples, size_t frame) {
  constexpr int kFft = 400;
  std::vector<float> power;
  for (int bin = 0; bin <= kFft / 2; ++bin) {
    std::complex<double> sum = 0;
    for (int i = 0; i < kFft; ++i) {
      const auto at = static_cast<size_t>(std::abs(static_cast<long>(frame) * kMelHop + i - kFft / 2));
      const double hann = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * i / kFft);
      const double sample = at < samples.size() ? static_cast<double>(samples[at]) : 0;
      sum += sample * hann * std::polar(1.0, -2 * std::numbers::pi * bin * i / kFft);
    }
    power.push_back(static_cast<float>(std::norm(sum)));
  }
  std::vector<float> mels(kBins);
  MelFilters(kBins, kFft / 2 + 1, kSampleRate / 2.0).apply(power, mels);
  std::vector<double> out;
  for (const float mel : mels) out.push_back(std::log10(std::max(1e-10, static_cast<double>(mel))));
  return out;
}

TEST(MelStream, EqualsTheDefinitionAtBothEnds) {
  for (const size_t count : {1, 100, 199, 201, 359, 400, 1600, 5003}) {
    SCOPED_TRACE(count);
    const std::vector<float> samples = noise(count);
    const std::vector<float> window = only_window(samples);
    const float highest = *std::max_element(window.begin(), window.end()) * 4 - 4;
    for (const size_t frame :
         {size_t{0}, size_t{1}, size_t{2}, count / kMelHop, count / kMelHop + 1, count / kMelHop + 2}) {
      const std::vector<double> expected = slow_frame(samples, frame);
      for (size_t bin = 0; bin < kBins; ++bin) {
        const double scaled = (std::max(expected[bin], static_cast<double>(highest) - 8) + 4) / 4;
        ASSERT_NEAR(window[frame * kBins + bin], scaled, 1e-4) << "frame " << frame << " bin " << bin;
      }
    }
  }
}

TEST(MelStream, DoesNotDependOnThePiecesTheAudioComesIn) {
  const std::vector<float> samples = noise(16000 * 70 + 77);
  const auto whole = audio_from_samples(samples);
  ChunkedSource pieces(samples);
  MelStream a(*whole, kBins), b(pieces, kBins);
  for (const size_t frame : {0, 13, 2800, 2801, 5800, 6990, 9000}) {
    EXPECT_EQ(window_at(a, frame), window_at(b, frame)) << frame;
  }
}

TEST(MelStream, DoesNotDependOnTheWindowsBefore) {
  const std::vector<float> samples = noise(16000 * 70 + 77);
  const auto source = audio_from_samples(samples);
  MelStream stepwise(*source, kBins);
  for (const size_t frame : {0, 1, 1500, 3100, 6000, 7005}) {
    EXPECT_EQ(window_at(stepwise, frame), only_window(samples, frame)) << frame;
  }
}

TEST(MelStream, CountsFramesAndSeesTheEnd) {
  const auto source = audio_from_samples(noise(16000 * 40 + 159));
  MelStream mel(*source, kBins);
  EXPECT_TRUE(mel.reaches(0));
  EXPECT_FALSE(mel.total_frames().has_value());
  window_at(mel, 0);
  EXPECT_TRUE(mel.reaches(3999));
  EXPECT_FALSE(mel.reaches(4000));
  EXPECT_EQ(mel.total_frames(), 4000U);

  const auto exact = audio_from_samples(noise(480'000));
  MelStream full(*exact, kBins);
  window_at(full, 0);
  EXPECT_EQ(full.total_frames(), 3000U);

  const auto nothing = audio_from_samples({});
  MelStream empty(*nothing, kBins);
  EXPECT_FALSE(empty.reaches(0));
  EXPECT_EQ(empty.total_frames(), 0U);
  EXPECT_THAT(window_at(empty, 0), testing::Each(-1.5F));
}

TEST(MelStream, ClampsEachWindowByItsOwnLoudestValue) {
  std::vector<float> samples = noise(16000 * 65);
  for (size_t i = 16000 * 35; i < samples.size(); ++i) samples[i] *= 1e-4F;
  const std::vector<float> loud = only_window(samples, 0), quiet = only_window(samples, 3510);
  const auto [low, high] = std::minmax_element(quiet.begin(), quiet.end());
  EXPECT_LE(*high - *low, 2.0F + 1e-5F);  // 8 / 4
  EXPECT_LT(*high, *std::max_element(loud.begin(), loud.end()) - 1.5F);
}

TEST(MelStream, RefusesToGoBack) {
  const auto source = audio_from_samples(noise(16000));
  MelStream mel(*source, 128);
  window_at(mel, 50, 128);
  EXPECT_THROW(window_at(mel, 49, 128), Error);
  EXPECT_THROW(window_at(mel, 50, 80), Error);
}

TEST(MelFilters, HaveEqualAreas) {
  for (const int filters : {80, 128}) {
    const MelFilters bank(filters, 20001, 8000);  // fine enough that sums are areas
    std::vector<float> out(static_cast<size_t>(filters));
    bank.apply(std::vector<float>(20001, 8000.0F / 20000), out);
    EXPECT_THAT(out, testing::Each(testing::FloatNear(1, 0.01F)));
  }
}

// Resident memory now. (The peak would hide growth behind whatever an earlier test needed.)
size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  size_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST(MelStream, NeedsTheSameMemoryForAnHour) {
  constexpr int kRate = 8000, kSeconds = 3600;
  const TemporaryFolder folder;
  const auto path = folder / "hour.wav";
  constexpr uint32_t kDataSize = kRate * kSeconds;
  const std::vector<std::byte> header = wav_bytes({.rate = kRate, .bits = 8}, {}, kDataSize);
  write_file(path, header);
  std::filesystem::resize_file(path,
                               header.size() + kDataSize);  // a hole in the file: it takes no disk space

  const auto source = open_audio(path.string());
  MelStream mel(*source, kBins);
  std::vector<float> window(kWindowFrames * kBins);
  mel.window(0, window);
  const size_t before = resident_bytes();
  size_t most = before;
  size_t windows = 1;
  while (mel.reaches(windows * kWindowFrames)) {
    mel.window(windows++ * kWindowFrames, window);
    most = std::max(most, resident_bytes());
  }
  EXPECT_EQ(windows, kSeconds / 30U);
  EXPECT_EQ(mel.total_frames(), kSeconds * 100U);
#if !SOTTO_SLOW_BUILD                         // a sanitizer holds freed memory back
  EXPECT_LT(most - before, size_t{4} << 20);  // the hour's samples alone would be 230 MB
#endif
}

TEST(MelStream, TheSamplesOfAWindowGiveItsMels) {
  for (const size_t count : {size_t{0}, size_t{100}, size_t{16'000}, size_t{480'000}, size_t{700'123}}) {
    ChunkedSource for_mels(noise(count)), for_samples(noise(count));
    MelStream mels(for_mels, kBins), samples(for_samples, kBins);
    for (const size_t frame : {size_t{0}, size_t{1}, size_t{37}, size_t{1500}, size_t{4000}}) {
      const WindowSamples window = samples.samples(frame);
      EXPECT_EQ(window.samples.size(), size_t{kWindowFrames} * kMelHop + 240);
      EXPECT_EQ(mel_of(window, kBins), window_at(mels, frame)) << count << " samples, frame " << frame;
      EXPECT_EQ(samples.reaches(frame + 100), mels.reaches(frame + 100));
      EXPECT_EQ(samples.total_frames(), mels.total_frames());
    }
  }
}

TEST(MelStream, TheTablesAreThoseThatMelsAreMadeWith) {
  const std::vector<float> window = mel_transform_window(), filters = mel_filter_table(kBins);
  ASSERT_EQ(window.size(), 400u);
  EXPECT_FLOAT_EQ(window[200], 1);
  ASSERT_EQ(filters.size(), size_t{kBins} * 201);
  std::vector<float> power(201), by_table(kBins), by_filters(kBins);
  for (size_t i = 0; i < power.size(); ++i) power[i] = static_cast<float>(i % 7);
  MelFilters(kBins, 201, 8000).apply(power, by_filters);
  for (size_t bin = 0; bin < kBins; ++bin)
    for (size_t point = 0; point < 201; ++point) by_table[bin] += filters[bin * 201 + point] * power[point];
  for (size_t bin = 0; bin < kBins; ++bin) EXPECT_FLOAT_EQ(by_table[bin], by_filters[bin]);
}

}  // namespace
}  // namespace sotto::test
