// From probabilities to regions: hysteresis, durations, padding and cuts.

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "audio/vad.h"
#include "base/error.h"
#include "unit/audio/vad_mixtures.h"

namespace sotto {

bool operator==(const SpeechRegion& a, const SpeechRegion& b) {
  return std::abs(a.start - b.start) < 1e-9 && std::abs(a.end - b.end) < 1e-9;
}

void PrintTo(const SpeechRegion& region, std::ostream* out) {
  *out << region.start << "-" << region.end;
}

namespace {

using Regions = std::vector<SpeechRegion>;

struct Stretch {
  double seconds;
  float probability;
};

std::vector<float> curve(std::initializer_list<Stretch> stretches) {
  std::vector<float> probabilities;
  for (const Stretch& stretch : stretches) {
    const auto frames = static_cast<size_t>(std::lround(stretch.seconds / kVadFrameSeconds));
    probabilities.insert(probabilities.end(), frames, stretch.probability);
  }
  return probabilities;
}

Regions regions_of(std::span<const float> probabilities, const VadOptions& options) {
  SpeechRegions regions(options);
  Regions found;
  regions.push(probabilities, found);
  regions.finish(found);
  return found;
}

VadOptions plain() {
  VadOptions options;
  options.min_silence_duration = 0.5;
  options.min_speech_duration = 0;
  options.speech_pad = 0;
  return options;
}

TEST(SpeechRegions, BeginsAtTheThresholdAndEndsBelowTheLowerOne) {
  const auto probabilities = curve({{1, 0.45F}, {1, 0.55F}, {1, 0.45F}, {1, 0.2F}, {1, 0.45F}});
  EXPECT_EQ(regions_of(probabilities, plain()), (Regions{{1, 3}}));  // 0.45 continues speech but begins none
}

TEST(SpeechRegions, ShortPausesDoNotSplit) {
  const auto probabilities = curve({{1, 1}, {0.49, 0}, {1, 1}, {0.5, 0}, {1, 1}});
  EXPECT_EQ(regions_of(probabilities, plain()), (Regions{{0, 2.49}, {2.99, 3.99}}));
}

TEST(SpeechRegions, DropsShortBursts) {
  VadOptions options = plain();
  options.min_speech_duration = 0.25;
  const auto probabilities = curve({{1, 0}, {0.24, 1}, {1, 0}, {0.25, 1}, {1, 0}});
  EXPECT_EQ(regions_of(probabilities, options), (Regions{{2.24, 2.49}}));
}

TEST(SpeechRegions, PadsBothSidesWithinTheInput) {
  VadOptions options = plain();
  options.speech_pad = 0.4;
  EXPECT_EQ(regions_of(curve({{1, 0}, {1, 1}, {2, 0}}), options), (Regions{{0.6, 2.4}}));
  EXPECT_EQ(regions_of(curve({{0.1, 0}, {1, 1}, {0.2, 0}}), options), (Regions{{0, 1.3}}));
}

TEST(SpeechRegions, NeighboursShareANarrowGap) {
  VadOptions options = plain();
  options.speech_pad = 0.4;
  EXPECT_EQ(regions_of(curve({{1, 1}, {0.6, 0}, {1, 1}}), options), (Regions{{0, 1.3}, {1.3, 2.6}}));
  EXPECT_EQ(regions_of(curve({{1, 1}, {0.9, 0}, {1, 1}}), options), (Regions{{0, 1.4}, {1.5, 2.9}}));
}

TEST(SpeechRegions, ADroppedBurstTakesNoPadding) {
  VadOptions options = plain();
  options.speech_pad = 0.4;
  options.min_speech_duration = 0.25;
  const auto probabilities = curve({{1, 1}, {0.5, 0}, {0.1, 1}, {0.6, 0}, {1, 1}});
  EXPECT_EQ(regions_of(probabilities, options), (Regions{{0, 1.4}, {1.8, 3.2}}));
}

TEST(SpeechRegions, CutsLongSpeechAtItsQuietestPlace) {
  VadOptions options = plain();
  options.max_speech_duration = 10;
  const auto probabilities = curve({{2, 1}, {0.1, 0.4F}, {5, 1}, {0.01, 0.5F}, {6, 1}});
  const Regions found = regions_of(probabilities, options);
  EXPECT_EQ(found, (Regions{{0, 7.1}, {7.1, 13.11}}));  // the earlier pause lies in the first half
}

TEST(SpeechRegions, CutsLieInsidePauses) {
  VadOptions options = plain();
  options.max_speech_duration = 4;
  options.min_speech_duration = 0.25;
  options.speech_pad = 0.4;
  const Regions found = regions_of(curve({{3, 1}, {0.3, 0}, {0.8, 1}, {2, 0}}), options);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].end, found[1].start);
  EXPECT_TRUE(found[0].end >= 3 && found[0].end <= 3.3) << found[0].end;
}

TEST(SpeechRegions, APauseAfterACutEndsTheSpeech) {
  VadOptions options = plain();
  options.max_speech_duration = 4;
  const Regions found = regions_of(curve({{3.8, 1}, {3, 0}}), options);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LT(found[0].end, 4.01);
}

TEST(SpeechRegions, KeepsTheLimitWithoutAnyPause) {
  VadOptions options = plain();
  options.max_speech_duration = 2;
  const Regions found = regions_of(std::vector<float>(1001, 1.0F), options);
  double end = 0;
  for (const SpeechRegion& region : found) {
    EXPECT_EQ(region.start, end);
    EXPECT_LE(region.end - region.start, 2.0 + 1e-9);
    end = region.end;
  }
  EXPECT_NEAR(end, 10.01, 1e-9);
}

TEST(SpeechRegions, DoesNotDependOnThePieces) {
  test::Random random(5);
  std::vector<float> probabilities;
  for (int i = 0; i < 3000; ++i) {
    const auto value = static_cast<float>(random.uniform(0, 1));
    probabilities.insert(probabilities.end(), 1 + random.below(60), value);
  }
  VadOptions options;
  options.min_silence_duration = 0.3;
  options.max_speech_duration = 5;
  const Regions whole = regions_of(probabilities, options);
  EXPECT_GT(whole.size(), 100U);
  for (size_t i = 1; i < whole.size(); ++i) EXPECT_GE(whole[i].start, whole[i - 1].end);
  SpeechRegions regions(options);
  Regions found;
  for (const float probability : probabilities) regions.push({&probability, 1}, found);
  regions.finish(found);
  EXPECT_EQ(found, whole);
}

TEST(SpeechRegions, TwoDaysOfSilenceAndThenAWord) {
  SpeechRegions regions(VadOptions{});
  Regions found;
  const std::vector<float> hour(360000, 0.001F);
  for (int i = 0; i < 48; ++i) regions.push(hour, found);
  EXPECT_TRUE(found.empty());
  regions.push(curve({{1, 1}, {5, 0}}), found);
  EXPECT_EQ(found, (Regions{{172799.6, 172801.4}}));  // known before the end
}

TEST(SpeechRegions, RefusesOptionsWithoutMeaning) {
  for (const double threshold : {0.0, -1.0, 1.5, std::nan("")}) {
    VadOptions options;
    options.threshold = threshold;
    EXPECT_THROW(SpeechRegions{options}, Error) << threshold;
  }
  VadOptions negative;
  negative.speech_pad = -0.1;
  EXPECT_THROW(SpeechRegions{negative}, Error);
  VadOptions none;
  none.max_speech_duration = 0;
  EXPECT_THROW(SpeechRegions{none}, Error);
}

}  // namespace
}  // namespace sotto
