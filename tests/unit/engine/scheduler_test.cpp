// Windows decoded side by side give bit for bit what each gives alone.
#include "engine/scheduler.h"

#include <random>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "base/error.h"
#include "support/checkpoint_tools.h"

namespace sotto::test {
namespace {

// A network that stays where it is.
class FixedNetwork final : public NetworkSource {
 public:
  explicit FixedNetwork(const Network& network) : network_(network) {}
  const Network& network() override { return network_; }
  bool replace(const Error&) override { return false; }
  void unload() noexcept override {}

 private:
  const Network& network_;
};

class SchedulerTest : public ::testing::TestWithParam<ComputeType> {
 protected:
  SchedulerTest()
      : checkpoint_(make_random_checkpoint(config(), 7)),
        tokenizer_(checkpoint_.vocabulary),
        backend_(make_cpu_backend({.compute_type = GetParam(), .threads = 2})),
        network_(*backend_, checkpoint_) {}

  // Small, but with the token layout of a real model.
  static ModelConfig config() {
    ModelConfig config = small_config();
    config.vocabulary = static_cast<int>(small_vocabulary().tokens.size());
    return config;
  }

  // Windows of every kind: greedy, beams, sampling with fallback, prompts, language detection.
  WindowRequest request(uint32_t seed) const {
    std::mt19937 random(seed);
    WindowRequest request;
    request.mel.resize(static_cast<size_t>(network_.mel_frames() * network_.config().mel_bins));
    for (float& value : request.mel) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    request.task = tokenizer_.special().transcribe;
    request.language = tokenizer_.languages().front().token;
    request.search.max_new_tokens = 4 + static_cast<int>(random() % 12);
    request.search.beams = seed % 3 == 0 ? 1 : 4;
    request.search.timestamps = seed % 2 == 0;
    request.search.seed = seed;
    request.search.repetition_penalty = seed % 5 == 0 ? 1.3 : 1.0;
    request.search.no_repeat_ngram = seed % 5 == 1 ? 2 : 0;
    if (seed % 4 == 1) request.temperatures = {0, 0.5, 1};
    if (seed % 4 == 2) request.temperatures = {0.8};
    request.samples = 3;
    request.detect_language = seed % 4 == 3;
    for (uint32_t i = 0; i < seed % 7; ++i) request.search.prompt.push_back(static_cast<TokenId>('a' + i));
    return request;
  }

  static void expect_same(const WindowResult& a, const WindowResult& b, uint32_t seed) {
    EXPECT_EQ(a.search.tokens, b.search.tokens) << seed;
    EXPECT_EQ(a.search.sum_log_probability, b.search.sum_log_probability) << seed;
    EXPECT_EQ(a.search.no_speech_probability, b.search.no_speech_probability) << seed;
    EXPECT_EQ(a.temperature, b.temperature) << seed;
    EXPECT_EQ(a.attempts, b.attempts) << seed;
    ASSERT_EQ(a.languages.size(), b.languages.size());
    for (size_t i = 0; i < a.languages.size(); ++i)
      EXPECT_EQ(a.languages[i].probability, b.languages[i].probability);
  }

  const Checkpoint checkpoint_;
  const Tokenizer tokenizer_;
  std::unique_ptr<Backend> backend_;
  const Network network_;
  FixedNetwork source_{network_};
};

TEST_P(SchedulerTest, ResultsDoNotDependOnCompany) {
  constexpr uint32_t kWindows = 14;
  std::vector<WindowResult> alone;
  {
    Scheduler scheduler(source_, network_.config(), tokenizer_, {.batch = 1});
    for (uint32_t seed = 0; seed < kWindows; ++seed)
      alone.push_back(scheduler.submit(request(seed), 0, nullptr).get());
  }
  for (const int batch : {2, 5, 16}) {
    Scheduler scheduler(source_, network_.config(), tokenizer_, {.batch = batch});
    std::vector<std::future<WindowResult>> futures;
    for (uint32_t seed = 0; seed < kWindows; ++seed)
      futures.push_back(scheduler.submit(request(seed), static_cast<int>(seed % 2), nullptr));
    for (uint32_t seed = 0; seed < kWindows; ++seed) expect_same(futures[seed].get(), alone[seed], seed);
  }
}

TEST_P(SchedulerTest, ASeedReproducesSampling) {
  Scheduler scheduler(source_, network_.config(), tokenizer_, {.batch = 2});
  const auto sampled = [&](uint64_t seed) {
    WindowRequest sampling = request(2);
    sampling.search.seed = seed;
    sampling.temperatures = {1.5};
    sampling.samples = 1;
    sampling.log_prob_threshold = -1000;
    return scheduler.submit(std::move(sampling), 0, nullptr).get().search.tokens;
  };
  EXPECT_EQ(sampled(1), sampled(1));
  EXPECT_NE(sampled(1), sampled(2));
}

TEST_P(SchedulerTest, AFailedAttemptIsMadeAgainWithoutThePrompt) {
  Scheduler scheduler(source_, network_.config(), tokenizer_, {.batch = 1});
  WindowRequest doubtful = request(0);
  doubtful.search.prompt = {'a', 'b', 'c'};
  doubtful.temperatures = {0, 0.5};
  doubtful.log_prob_threshold = 0;  // nothing is likely enough
  doubtful.no_speech_threshold = 1;
  const WindowResult result = scheduler.submit(std::move(doubtful), 0, nullptr).get();
  EXPECT_TRUE(result.context_dropped);
  EXPECT_EQ(result.attempts, 3);  // with the prompt, without it, at the next temperature
  WindowRequest plain = request(0);
  plain.search.prompt.clear();
  EXPECT_FALSE(scheduler.submit(std::move(plain), 0, nullptr).get().context_dropped);
}

TEST_P(SchedulerTest, ACancelledWindowIsGivenUp) {
  Scheduler scheduler(source_, network_.config(), tokenizer_, {.batch = 1});
  const auto cancelled = std::make_shared<std::atomic<bool>>(true);
  auto future = scheduler.submit(request(0), 0, cancelled);
  try {
    future.get();
    FAIL() << "a cancelled window gave a result";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
  EXPECT_NO_THROW(scheduler.submit(request(0), 0, nullptr).get());  // others go on
}

TEST_P(SchedulerTest, EndingFailsWhatIsLeft) {
  std::vector<std::future<WindowResult>> futures;
  {
    Scheduler scheduler(source_, network_.config(), tokenizer_, {.batch = 1});
    for (uint32_t seed = 0; seed < 20; ++seed) futures.push_back(scheduler.submit(request(seed), 0, nullptr));
  }
  size_t failed = 0;
  for (auto& future : futures) {
    try {
      future.get();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
      ++failed;
    }
  }
  EXPECT_GT(failed, 0u);
}

TEST_P(SchedulerTest, ABadWindowFailsAloneOrWithItsCompanyButTheThreadLivesOn) {
  Scheduler scheduler(source_, network_.config(), tokenizer_, {.batch = 4});
  WindowRequest bad = request(0);
  bad.mel.resize(17);
  EXPECT_THROW(scheduler.submit(std::move(bad), 0, nullptr).get(), Error);
  EXPECT_NO_THROW(scheduler.submit(request(1), 0, nullptr).get());
}

INSTANTIATE_TEST_SUITE_P(Types, SchedulerTest, ::testing::Values(ComputeType::float32, ComputeType::int8),
                         [](const auto& test) { return std::string(compute_type_name(test.param)); });

}  // namespace
}  // namespace sotto::test
