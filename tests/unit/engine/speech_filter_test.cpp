#include "engine/speech_filter.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace sotto::test {
namespace {

std::vector<float> read_whole(AudioSource& source) {
  std::vector<float> all, block(4001);
  while (const size_t count = source.read(block))
    all.insert(all.end(), block.begin(), block.begin() + static_cast<ptrdiff_t>(count));
  return all;
}

std::vector<float> sample_of_speech() {
  return read_whole(*open_audio(source_path("samples/pico_en_short.flac").string()));
}

// Speech, ten seconds of nothing, the same speech again.
std::vector<float> speech_with_gap(size_t gap_seconds) {
  std::vector<float> samples = sample_of_speech();
  const std::vector<float> speech = samples;
  samples.resize(samples.size() + gap_seconds * kSampleRate, 0.0f);
  samples.insert(samples.end(), speech.begin(), speech.end());
  return samples;
}

TEST(SpeechFilter, LeavesOutTheGapAndTellsTimesOnTheInput) {
  const std::vector<float> input = speech_with_gap(10);
  const auto source = audio_from_samples(input);
  SpeechFilter filter(*source, {});
  const std::vector<float> passed = read_whole(filter);
  EXPECT_LT(passed.size(), input.size() - 8 * kSampleRate);
  EXPECT_NEAR(filter.seconds_read(), static_cast<double>(input.size()) / kSampleRate, 1e-9);

  // Every passed sample is the one that stands in the input at the time it is said to come from.
  for (size_t i = 0; i < passed.size(); i += 997) {
    const double at = filter.original_start(static_cast<double>(i) / kSampleRate);
    EXPECT_EQ(passed[i], input[static_cast<size_t>(std::llround(at * kSampleRate))]) << i;
  }
  double last = 0;
  for (double t = 0; t < static_cast<double>(passed.size()) / kSampleRate; t += 0.01) {
    EXPECT_GE(filter.original_start(t), last);
    last = filter.original_start(t);
    EXPECT_LE(filter.original_end(t), last + 1e-9);
  }
}

TEST(SpeechFilter, AnEndAtABorderBelongsToTheEarlierRegion) {
  const std::vector<float> input = speech_with_gap(10);
  const auto source = audio_from_samples(input);
  SpeechFilter filter(*source, {});
  const std::vector<float> first = filter.next_chunk(5 * kSampleRate);
  const std::vector<float> second = filter.next_chunk(5 * kSampleRate);
  ASSERT_FALSE(second.empty());
  const double border = static_cast<double>(first.size()) / kSampleRate;
  EXPECT_GT(filter.original_start(border) - filter.original_end(border), 8);
  EXPECT_TRUE(filter.next_chunk(5 * kSampleRate).empty());
}

TEST(SpeechFilter, ChunksFitAndHoldEverything) {
  std::vector<float> input;
  const std::vector<float> speech = sample_of_speech();
  for (int i = 0; i < 20; ++i) {
    input.insert(input.end(), speech.begin(), speech.end());
    input.resize(input.size() + (i % 3 == 0 ? 4 : 0) * kSampleRate, 0.0f);
  }
  const auto a = audio_from_samples(input), b = audio_from_samples(input);
  SpeechFilter whole(*a, {.max_speech_duration = 30}), cut(*b, {.max_speech_duration = 30});
  const std::vector<float> all = read_whole(whole);
  std::vector<float> joined;
  for (std::vector<float> chunk; !(chunk = cut.next_chunk(30 * kSampleRate)).empty();) {
    EXPECT_LE(chunk.size(), 30u * kSampleRate);
    joined.insert(joined.end(), chunk.begin(), chunk.end());
  }
  EXPECT_EQ(joined, all);
}

TEST(SpeechFilter, SilenceGivesNothing) {
  const auto source = audio_from_samples(std::vector<float>(60 * kSampleRate, 0.0f));
  SpeechFilter filter(*source, {});
  EXPECT_TRUE(read_whole(filter).empty());
  EXPECT_DOUBLE_EQ(filter.seconds_read(), 60);
}

}  // namespace
}  // namespace sotto::test
