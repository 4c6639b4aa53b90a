#include <limits>
#include <numeric>

#include "base/error.h"
#include "ops/op_test_support.h"
#include "tensor/reference_ops.h"

namespace sotto::test {
namespace {

using SampleTest = OnBackend;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

SampleResult sample_one(Backend& backend, const std::vector<float>& logits, const SampleRequest& request) {
  return backend.sample(upload(backend, logits, logits.size(), Precision::full), {&request, 1}).front();
}

// A random set of rules over a random row, with the naive answer.
struct RandomCase {
  RandomCase(size_t vocabulary, unsigned seed) : logits(random_values(vocabulary, seed, 3.0f)) {
    std::mt19937 generator(seed);
    const auto any = [&](size_t below) { return static_cast<int32_t>(generator() % below); };
    for (float& logit : logits) logit = std::round(logit * 8) / 8;  // so that some are equal
    banned.resize(vocabulary);
    for (int i = 0; i < 5; ++i) suppressed.push_back(any(vocabulary));
    for (int i = 0; i < 2; ++i) {
      const int32_t first = any(vocabulary);
      ranges.push_back({first, first + any(vocabulary - static_cast<size_t>(first) + 1)});
    }
    for (const int32_t token : suppressed) banned[static_cast<size_t>(token)] = true;
    for (const TokenRange& range : ranges)
      std::fill(banned.begin() + range.first, banned.begin() + range.last, true);
    request.suppressed = suppressed;
    request.banned = ranges;
    request.timestamp_begin = any(3) == 0 ? -1 : any(vocabulary + 1);
    request.candidates = 1 + any(7);
    request.probe = any(vocabulary);
  }

  std::vector<double> log_probabilities() const {
    return reference::allowed_log_probabilities(logits, banned, request.timestamp_begin);
  }

  std::vector<float> logits;
  std::vector<bool> banned;
  std::vector<int32_t> suppressed;
  std::vector<TokenRange> ranges;
  SampleRequest request;
};

void expect_best(const SampleResult& result, const std::vector<double>& expected, int wanted) {
  std::vector<size_t> order(expected.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return expected[a] > expected[b]; });
  while (!order.empty() && expected[order.back()] == -kInfinity) order.pop_back();
  ASSERT_EQ(result.candidates.size(), std::min(order.size(), static_cast<size_t>(wanted)));
  for (size_t i = 0; i < result.candidates.size(); ++i) {
    EXPECT_EQ(result.candidates[i].token, static_cast<int32_t>(order[i]));
    EXPECT_NEAR(result.candidates[i].log_probability, expected[order[i]], 2e-5);
  }
}

TEST_P(SampleTest, RandomRulesMatchTheReference) {
  Backend& on = backend();
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const RandomCase random(1 + seed * 7 % 900, seed);
    const SampleResult result = sample_one(on, random.logits, random.request);
    expect_best(result, random.log_probabilities(), random.request.candidates);
    const auto probabilities =
        reference::softmax(std::vector<double>(random.logits.begin(), random.logits.end()));
    EXPECT_NEAR(result.probe_probability, probabilities[static_cast<size_t>(random.request.probe)], 1e-6);
  }
}

TEST_P(SampleTest, AWholeVocabulary) {
  Backend& on = backend();
  RandomCase random(51865, 7);
  random.request.timestamp_begin = 50364;
  expect_best(sample_one(on, random.logits, random.request), random.log_probabilities(),
              random.request.candidates);
}

TEST_P(SampleTest, TimestampsTogetherBeatOneText) {
  Backend& on = backend();
  SampleRequest request;
  request.timestamp_begin = 2;
  // Two timestamps of e^1 each: together e^1.69.
  EXPECT_EQ(sample_one(on, {0.0f, 1.6f, 1.0f, 1.0f}, request).candidates.front().token, 2);
  EXPECT_EQ(sample_one(on, {0.0f, 1.8f, 1.0f, 1.0f}, request).candidates.front().token, 1);
  request.timestamp_begin = -1;
  EXPECT_EQ(sample_one(on, {0.0f, 1.6f, 1.0f, 1.0f}, request).candidates.front().token, 1);
}

TEST_P(SampleTest, PenaltyLowersEachListedTokenOnce) {
  Backend& on = backend();
  const std::vector<float> logits = {2.0f, -1.0f, 1.5f, 0.0f};
  const std::vector<int32_t> listed = {0, 1, 0};
  SampleRequest request;
  request.penalised = listed;
  request.penalty = 2.0f;
  request.candidates = 4;
  const auto expected = reference::allowed_log_probabilities(std::vector<float>{1.0f, -2.0f, 1.5f, 0.0f},
                                                             std::vector<bool>(4), -1);
  expect_best(sample_one(on, logits, request), expected, 4);
}

TEST_P(SampleTest, DrawsByCumulatedProbability) {
  Backend& on = backend();
  const RandomCase random(1200, 3);
  SampleRequest request = random.request;
  request.temperature = 0.7f;
  const std::vector<double> plain = random.log_probabilities();
  std::vector<double> cool = plain;
  for (double& value : cool) value /= static_cast<double>(request.temperature);
  const std::vector<double> probabilities = reference::softmax(cool);
  for (const double uniform : {0.0, 0.1, 0.25, 0.5, 0.77, 0.9, 0.999999999}) {
    request.uniform = uniform;
    const SampleResult result = sample_one(on, random.logits, request);
    ASSERT_EQ(result.candidates.size(), 1u);
    const auto token = static_cast<size_t>(result.candidates.front().token);
    const double before = std::accumulate(probabilities.begin(),
                                          probabilities.begin() + static_cast<std::ptrdiff_t>(token), 0.0);
    EXPECT_GT(probabilities[token], 0.0);
    EXPECT_LE(before, uniform + 1e-5);
    EXPECT_GE(before + probabilities[token], uniform - 1e-5);
    EXPECT_NEAR(result.candidates.front().log_probability, plain[token], 2e-5);
  }
}

TEST_P(SampleTest, NothingAllowedGivesNoCandidate) {
  Backend& on = backend();
  const TokenRange everything[] = {{0, 3}};
  SampleRequest request;
  request.banned = everything;
  request.probe = 1;
  const SampleResult result = sample_one(on, {1.0f, 1.0f, 1.0f}, request);
  EXPECT_TRUE(result.candidates.empty());
  EXPECT_NEAR(result.probe_probability, 1.0 / 3, 1e-6);
  request.temperature = 1.0f;
  EXPECT_TRUE(sample_one(on, {1.0f, 1.0f, 1.0f}, request).candidates.empty());
  EXPECT_TRUE(sample_one(on, {-kInfinity, -kInfinity}, SampleRequest{}).candidates.empty());
}

TEST_P(SampleTest, NotANumberIsADeviceError) {
  Backend& on = backend();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity})
    for (const size_t at : {0, 17, 99}) {
      std::vector<float> logits = random_values(100, 5);
      logits[at] = bad;
      try {
        sample_one(on, logits, SampleRequest{});
        ADD_FAILURE() << "no error for " << bad << " at " << at;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::device);
        EXPECT_STREQ(error.what(), "the device computed a value that is not a number");
      }
    }
}

TEST_P(SampleTest, ARowDoesNotDependOnTheOthersNorOnThreads) {
  constexpr size_t kVocabulary = 700;
  std::vector<float> logits;
  std::vector<RandomCase> cases;
  for (unsigned seed = 0; seed < 5; ++seed) cases.emplace_back(kVocabulary, 40 + seed);
  std::vector<SampleRequest> requests;
  for (RandomCase& random : cases) {
    random.request.suppressed = random.suppressed;
    random.request.banned = random.ranges;
    logits.insert(logits.end(), random.logits.begin(), random.logits.end());
    requests.push_back(random.request);
  }
  for (const int threads : thread_counts()) {
    Backend& on = backend(threads);
    const auto together = on.sample(upload(on, logits, kVocabulary, Precision::full), requests);
    for (size_t i = 0; i < cases.size(); ++i) {
      const SampleResult alone = sample_one(on, cases[i].logits, requests[i]);
      EXPECT_EQ(alone.probe_probability, together[i].probe_probability);
      ASSERT_EQ(alone.candidates.size(), together[i].candidates.size());
      for (size_t c = 0; c < alone.candidates.size(); ++c) {
        EXPECT_EQ(alone.candidates[c].token, together[i].candidates[c].token);
        EXPECT_EQ(alone.candidates[c].log_probability, together[i].candidates[c].log_probability);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SampleTest, testing::ValuesIn(backend_cases(Types::one_per_memory)),
                         backend_case_name);

}  // namespace
}  // namespace sotto::test
