// The speech detector: its quality on mixtures with known truth, and inputs that must not upset it.

#include "audio/vad.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "unit/audio/vad_mixtures.h"

namespace sotto {
namespace {

using namespace test;

std::vector<float> probabilities_of(std::span<const float> samples, size_t piece) {
  VoiceDetector detector;
  std::vector<float> probabilities;
  for (size_t start = 0; start < samples.size(); start += piece) {
    detector.push(samples.subspan(start, std::min(piece, samples.size() - start)), probabilities);
  }
  detector.finish(probabilities);
  return probabilities;
}

std::vector<float> sample(const char* file) {
  return read_audio(samples_folder() / file);
}

double covered(const std::pair<double, double>& segment, std::span<const SpeechRegion> regions) {
  double inside = 0;
  for (const SpeechRegion& region : regions) {
    inside += std::max(0.0, std::min(segment.second, region.end) - std::max(segment.first, region.start));
  }
  return inside / (segment.second - segment.first);
}

// The share of the reference segments of one sample that the default options find after the audio was
// changed.
template <class Change>
double coverage_after(const char* file, Change change) {
  std::vector<float> samples = sample(file);
  for (float& value : samples) value = change(value);
  const std::vector<SpeechRegion> regions = find_speech(samples);
  double least = 1;
  for (const Reference& reference : sample_references()) {
    if (reference.file != file) continue;
    for (const auto& segment : reference.segments) least = std::min(least, covered(segment, regions));
  }
  return least;
}

double speech_share(std::span<const float> samples) {
  const std::vector<bool> found = speech_frames(samples);
  return static_cast<double>(std::count(found.begin(), found.end(), true)) /
         static_cast<double>(found.size());
}

// Measures all kinds of noise at one ratio, and prints a line of the table.
FrameScore measure(std::span<const LabelledAudio> clips, double snr_db, double least_of_a_kind) {
  constexpr double kSeconds = 40;
  FrameScore total;
  std::string line;
  for (const Noise noise : kNoises) {
    const auto seed = static_cast<uint32_t>(100 * snr_db) + static_cast<uint32_t>(noise);
    const LabelledAudio mixture = mix(clips, noise, snr_db, kSeconds, seed);
    FrameScore score;
    score.add(mixture.speech, speech_frames(mixture.samples));
    EXPECT_GT(score.f1(), least_of_a_kind) << name_of(noise) << " at " << snr_db << " dB";
    line += fmt::format("  {} {:.3f}", name_of(noise), score.f1());
    total += score;
  }
  fmt::print("F1 at {:>2} dB: {:.3f}  ({} )\n", snr_db, total.f1(), line);
  return total;
}

TEST(VoiceDetector, FindsSpeechInNoise) {
  const std::vector<LabelledAudio> clips = sample_clips();
  EXPECT_GT(measure(clips, 10, 0.88).f1(), 0.95);
#if !SOTTO_SLOW_BUILD  // under a sanitizer one ratio has to do
  EXPECT_GT(measure(clips, 20, 0.93).f1(), 0.96);
  EXPECT_GT(measure(clips, 15, 0.92).f1(), 0.955);
  EXPECT_GT(measure(clips, 5, 0.75).f1(), 0.92);
  EXPECT_GT(measure(clips, 0, 0.55).f1(), 0.84);
#endif
}

TEST(VoiceDetector, FindsHumanSpeechInNoise) {
  const std::vector<LabelledAudio> clips = human_clips();
  if (clips.empty()) GTEST_SKIP() << "../shared/speech (or SOTTO_SPEECH_DIR) is not there";
  EXPECT_GT(measure(clips, 10, 0.85).f1(), 0.95);
}

TEST(VoiceDetector, TakesNoiseAloneForSilence) {
  const std::vector<LabelledAudio> voices = sample_clips();
  for (const Noise noise : kNoises) {
    if (noise == Noise::babble) continue;  // babble alone is voices
    Random random(99);
    std::vector<float> samples = make_noise(noise, 60 * kSampleRate, random, voices);
    for (float& value : samples) value *= 0.03F;
    EXPECT_LT(speech_share(samples), 0.03) << name_of(noise);
  }
}

TEST(VoiceDetector, CoversEverySampleAndNoSilence) {
  for (const Reference& reference : sample_references()) {
    const std::vector<SpeechRegion> regions = find_speech(sample(reference.file.c_str()));
    EXPECT_EQ(regions.empty(), reference.segments.empty()) << reference.file;
    for (const auto& segment : reference.segments) {
      EXPECT_GE(covered(segment, regions), 0.97) << reference.file << " from " << segment.first;
    }
  }
}

TEST(VoiceDetector, DoesNotDependOnThePieces) {
  std::vector<float> samples = sample("noisy_gb_10db.flac");
  samples.resize(samples.size() - 77);  // the last frame is incomplete
  const std::vector<float> whole = probabilities_of(samples, samples.size());
  EXPECT_EQ(whole.size(), (samples.size() + kVadFrame - 1) / kVadFrame);
  for (const size_t piece : {1, 7, 160, 161, 400, 16000})
    EXPECT_EQ(probabilities_of(samples, piece), whole) << piece;
}

TEST(VoiceDetector, StartsAfreshAfterTheEnd) {
  const std::vector<float> samples = sample("pico_en_short.flac");
  const std::vector<float> once = probabilities_of(samples, samples.size());
  VoiceDetector detector;
  for (int round = 0; round < 2; ++round) {
    std::vector<float> again;
    detector.push(samples, again);
    detector.finish(again);
    EXPECT_EQ(again, once);
  }
}

TEST(VoiceDetector, EveryBegunFrameGetsOneProbability) {
  for (const size_t count : {0, 1, 159, 160, 161, 320, 4000}) {
    const std::vector<float> found = probabilities_of(std::vector<float>(count, 0.1F), 100);
    EXPECT_EQ(found.size(), (count + kVadFrame - 1) / kVadFrame);
    for (const float probability : found) EXPECT_TRUE(probability >= 0 && probability <= 1);
  }
}

TEST(VoiceDetector, SilenceAndTinyInputsHaveNoSpeech) {
  EXPECT_TRUE(find_speech({}).empty());
  EXPECT_TRUE(find_speech(std::vector<float>(160)).empty());
  EXPECT_TRUE(find_speech(std::vector<float>(160, 0.5F)).empty());
  EXPECT_TRUE(find_speech(std::vector<float>(60 * kSampleRate)).empty());
  EXPECT_TRUE(find_speech(std::vector<float>(60 * kSampleRate, 0.9F)).empty());
}

TEST(VoiceDetector, SpeechAfterALongSilenceIsFound) {
  std::vector<float> samples(600 * kSampleRate);
  const std::vector<float> speech = sample("slt_en.flac");
  samples.insert(samples.end(), speech.begin(), speech.end());
  const std::vector<SpeechRegion> regions = find_speech(samples);
  ASSERT_EQ(regions.size(), 1U);
  EXPECT_NEAR(regions[0].start, 600.0, 0.3);
  EXPECT_GT(regions[0].end, 611.0);
}

TEST(VoiceDetector, SurvivesDamagedSpeech) {
  constexpr const char* kFile = "slt_en.flac";
  EXPECT_GE(coverage_after(kFile, [](float x) { return std::clamp(20 * x, -0.5F, 0.5F); }), 0.97)
      << "clipped";
  EXPECT_GE(coverage_after(kFile, [](float x) { return x + 0.7F; }), 0.97) << "shifted";
  EXPECT_GE(coverage_after(kFile, [](float x) { return 100 * x; }), 0.97) << "far too loud";
  EXPECT_GE(coverage_after(kFile, [](float x) { return 0.02F * x; }), 0.97) << "about -50 dBFS";
  EXPECT_GE(coverage_after(kFile, [](float x) { return std::round(x * 100) / 100; }), 0.8) << "coarse steps";
}

TEST(VoiceDetector, SamplesThatAreNotSoundCountAsZero) {
  std::vector<float> damaged = sample("slt_en.flac");
  std::vector<float> clean = damaged;
  constexpr float kBad[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::max()};
  for (size_t i = 0; i < damaged.size(); i += 1001) {
    damaged[i] = kBad[i % std::size(kBad)];
    clean[i] = 0;
  }
  EXPECT_EQ(probabilities_of(damaged, 5000), probabilities_of(clean, 5000));
  const std::vector<float> nothing(5 * kSampleRate, kBad[0]);
  EXPECT_TRUE(find_speech(nothing).empty());
}

}  // namespace
}  // namespace sotto
