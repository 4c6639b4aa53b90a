// The sampler where its slices meet; its rules are tested through the backend.
#include <algorithm>

#include "fault/kernel_test_support.h"

namespace sotto::test {
namespace {

struct Answers {
  std::vector<gpu::SampleAnswer> answers;
  std::vector<gpu::DeviceCandidate> candidates;
};

Answers run_sample(const std::vector<float>& logits, int vocabulary, std::vector<gpu::SampleRow> rows,
                   const std::vector<int>& tokens, int most) {
  const int slices = gpu::sample_slices(vocabulary);
  const size_t parts = rows.size() * static_cast<size_t>(slices);
  std::vector<gpu::SamplePart> part(parts);
  std::vector<gpu::DeviceCandidate> part_candidates(parts * static_cast<size_t>(most));
  std::vector<unsigned> done(rows.size());
  Answers made{std::vector<gpu::SampleAnswer>(rows.size()),
               std::vector<gpu::DeviceCandidate>(rows.size() * static_cast<size_t>(most))};
  run_kernel("sample",
             gpu::SampleArgs{logits.data(), vocabulary, rows.data(), tokens.data(), part.data(),
                             part_candidates.data(), done.data(), made.answers.data(), made.candidates.data(),
                             static_cast<int>(rows.size()), vocabulary, slices, most});
  EXPECT_EQ(done, std::vector<unsigned>(rows.size()));
  return made;
}

gpu::SampleRow plain_row(int candidates) {
  gpu::SampleRow row{};
  row.timestamp_begin = row.probe = -1;
  row.candidates = candidates;
  row.penalty = 1;
  return row;
}

TEST(GpuSampler, ManyCandidatesOverManySlicesTiesByToken) {
  constexpr int kVocabulary = 3 * gpu::kSampleSlice + 100, kWanted = 120;
  auto logits = random_floats(kVocabulary, 21);
  for (float& value : logits) value = std::round(value * 8) / 8;  // many equals
  gpu::SampleRow row = plain_row(kWanted);
  row.timestamp_begin = gpu::kSampleSlice + 7;
  logits[static_cast<size_t>(row.timestamp_begin) - 1] = 50;  // the text wins
  const Answers got = run_sample(logits, kVocabulary, {row}, {}, kWanted);

  std::vector<int> expected(kVocabulary);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<int>(i);
  std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) {
    return logits[static_cast<size_t>(a)] > logits[static_cast<size_t>(b)];
  });
  ASSERT_EQ(got.answers[0].count, kWanted);
  for (size_t i = 0; i < kWanted; ++i) EXPECT_EQ(got.candidates[i].token, expected[i]) << i;
}

TEST(GpuSampler, AlmostNothingIsAllowed) {
  constexpr int kVocabulary = 2 * gpu::kSampleSlice;
  const auto logits = random_floats(kVocabulary, 22);
  gpu::SampleRow row = plain_row(5);
  const std::vector<int> tokens{0, 2047, 2050, kVocabulary};  // leaves 2047, 2048 and 2049
  row.banned_end = 4;
  row.probe = 1;
  const Answers got = run_sample(logits, kVocabulary, {row}, tokens, 5);
  ASSERT_EQ(got.answers[0].count, 3);
  double sum = 0, all = 0;
  for (int i = 0; i < 3; ++i)
    sum += std::exp(static_cast<double>(got.candidates[static_cast<size_t>(i)].score));
  for (const float value : logits) all += std::exp(static_cast<double>(value));
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_NEAR(got.answers[0].probe_probability, std::exp(static_cast<double>(logits[1])) / all, 1e-8);
}

TEST(GpuSampler, TheOrderOfBlocksAndOtherRowsChangeNoBit) {
  constexpr int kVocabulary = 2 * gpu::kSampleSlice + 33;
  const auto logits = random_floats(2 * kVocabulary, 23, 3.0F);
  gpu::SampleRow best = plain_row(4), drawn = plain_row(1);
  best.timestamp_begin = kVocabulary - 50;
  drawn.temperature = 0.7F;
  drawn.uniform = 0.61;
  const Answers together = run_sample(logits, kVocabulary, {best, drawn}, {}, 4);
  gpu::emulated::last_block_first = true;
  const Answers backward = run_sample(logits, kVocabulary, {best, drawn}, {}, 4);
  gpu::emulated::last_block_first = false;
  const std::vector<float> second(logits.begin() + kVocabulary, logits.end());
  const Answers alone = run_sample(second, kVocabulary, {drawn}, {}, 4);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(together.candidates[i].token, backward.candidates[i].token);
    EXPECT_EQ(together.candidates[i].score, backward.candidates[i].score);
  }
  EXPECT_EQ(together.candidates[4].token, alone.candidates[0].token);
  EXPECT_EQ(together.candidates[4].score, alone.candidates[0].score);
}

}  // namespace
}  // namespace sotto::test
