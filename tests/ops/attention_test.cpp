#include "ops/op_test_support.h"
#include "tensor/reference_ops.h"

namespace sotto::test {
namespace {

using AttentionTest = OpTest;

// What rounding to a half or to fixed point may cost.
double tolerance(ComputeType type) {
  return type == ComputeType::float32 ? 3e-6 : 1e-3;
}
double encoder_tolerance(ComputeType type) {
  return type == ComputeType::int8 ? 5e-3 : 3e-6;
}

std::vector<double> reference_encoder(const std::vector<float>& qkv, size_t width, size_t heads,
                                      size_t windows) {
  const size_t window = qkv.size() / windows;
  std::vector<double> expected;
  for (size_t w = 0; w < windows; ++w) {
    const std::span<const float> part = std::span(qkv).subspan(w * window, window);
    const auto q = take_columns(part, 3 * width, 0, width), k = take_columns(part, 3 * width, width, width),
               v = take_columns(part, 3 * width, 2 * width, width);
    const auto out = reference::attend(q, k, v, width, heads).out;
    expected.insert(expected.end(), out.begin(), out.end());
  }
  return expected;
}

std::vector<float> run_encoder(Backend& backend, const std::vector<float>& qkv, size_t width, int heads,
                               int windows) {
  const OwnedRows in = upload(backend, qkv, 3 * width), out = allocate_rows(backend, in.rows.count, width);
  backend.attend_encoder(in, out, heads, windows);
  return download(backend, out);
}

TEST_P(AttentionTest, EncoderMatchesTheReference) {
  const auto backend = make();
  struct Case {
    size_t head, heads, positions, windows;
  };
  for (const Case c :
       {Case{64, 2, 301, 1}, Case{32, 3, 257, 2}, Case{80, 1, 100, 1}, Case{128, 2, 65, 2},
        Case{24, 2, 33, 1}, Case{7, 1, 19, 3}, Case{64, 1, 1, 2}, Case{256, 1, 40, 1}, Case{1, 2, 20, 1}}) {
    const size_t width = c.head * c.heads;
    const std::vector<float> qkv = random_values(c.windows * c.positions * 3 * width, 11, 1.5f);
    const std::vector<float> out =
        run_encoder(*backend, qkv, width, static_cast<int>(c.heads), static_cast<int>(c.windows));
    EXPECT_LT(relative_error(out, reference_encoder(qkv, width, c.heads, c.windows)),
              encoder_tolerance(type()))
        << "head " << c.head << ", positions " << c.positions;
  }
}

TEST_P(AttentionTest, EncoderAtFullLength) {
  constexpr size_t kPositions = 1500, kHead = 64, kCompared = 40;
  const auto backend = make();
  const std::vector<float> qkv = random_values(kPositions * 3 * kHead, 12, 2.0f);
  const std::vector<float> out = run_encoder(*backend, qkv, kHead, 1, 1);
  const std::vector<float> q = take_columns(std::span(qkv).last(kCompared * 3 * kHead), 3 * kHead, 0, kHead);
  const auto expected = reference::attend(q, take_columns(qkv, 3 * kHead, kHead, kHead),
                                          take_columns(qkv, 3 * kHead, 2 * kHead, kHead), kHead, 1);
  EXPECT_LT(relative_error(std::span(out).last(kCompared * kHead), expected.out), encoder_tolerance(type()));
}

TEST_P(AttentionTest, EncoderSurvivesLargeScoresAndZeros) {
  const auto backend = make();
  std::vector<float> qkv = random_values(size_t{300} * 3 * 64, 13, 30.0f);  // scores of thousands
  EXPECT_LT(relative_error(run_encoder(*backend, qkv, 64, 1, 1), reference_encoder(qkv, 64, 1, 1)), 2e-2);
  std::fill(qkv.begin(), qkv.end(), 0.0f);
  for (const float value : run_encoder(*backend, qkv, 64, 1, 1)) ASSERT_EQ(value, 0.0f);
}

TEST_P(AttentionTest, EncoderDoesNotDependOnThreadsNorOnOtherWindows) {
  constexpr size_t kWidth = 128, kPositions = 203;
  const std::vector<float> qkv = random_values(3 * kPositions * 3 * kWidth, 14);
  const std::vector<float> second(qkv.begin() + kPositions * 3 * kWidth,
                                  qkv.begin() + 2 * kPositions * 3 * kWidth);
  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    const auto backend = make(threads);
    const std::vector<float> all = run_encoder(*backend, qkv, kWidth, 2, 3);
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << threads << " threads";
    const std::vector<float> alone = run_encoder(*backend, second, kWidth, 2, 1);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + kPositions * kWidth))
        << threads << " threads";
  }
}

// A decoder's past: the same random rows of query, key and value, to be fed in any split.
struct Past {
  static constexpr int kLayers = 2, kSlots = 3, kPositions = 150, kHeads = 2;
  explicit Past(size_t head) : width(head * kHeads), qkv(random_values(kPositions * 3 * width, 21)) {}

  CacheShape shape() const { return {kLayers, kSlots, kPositions, kHeads, static_cast<int>(width)}; }

  // Positions [first, last) of one slot in one call.
  std::vector<float> feed(Backend& backend, SelfCache& cache, int layer, int slot, int first,
                          int last) const {
    std::vector<DecodeRow> rows;
    for (int position = first; position < last; ++position) rows.push_back({0, position, slot, 0});
    const auto values =
        std::span(qkv).subspan(static_cast<size_t>(first) * 3 * width, rows.size() * 3 * width);
    const OwnedRows in = upload(backend, values, 3 * width), out = allocate_rows(backend, rows.size(), width);
    backend.attend_self(cache, layer, in, rows, out);
    return download(backend, out);
  }

  std::vector<double> expected(size_t count) const {
    const auto part = std::span(qkv).first(count * 3 * width);
    std::vector<size_t> visible;
    for (size_t i = 0; i < count; ++i) visible.push_back(i + 1);
    return reference::attend(take_columns(part, 3 * width, 0, width),
                             take_columns(part, 3 * width, width, width),
                             take_columns(part, 3 * width, 2 * width, width), width, kHeads, visible)
        .out;
  }

  size_t width;
  std::vector<float> qkv;
};

TEST_P(AttentionTest, SelfPromptMatchesTheReference) {
  const auto backend = make();
  for (const size_t head : {32, 64, 80, 128, 7}) {
    const Past past(head);
    const auto cache = backend->make_self_cache(past.shape());
    EXPECT_LT(relative_error(past.feed(*backend, *cache, 1, 2, 0, Past::kPositions),
                             past.expected(Past::kPositions)),
              tolerance(type()))
        << "head " << head;
  }
}

TEST_P(AttentionTest, PromptThenStepsEqualsStepByStep) {
  const Past past(64);
  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    const auto backend = make(threads);
    const auto cache = backend->make_self_cache(past.shape());
    std::vector<float> single, mixed;
    for (int position = 0; position < 75; ++position) {
      const auto row = past.feed(*backend, *cache, 0, 0, position, position + 1);
      single.insert(single.end(), row.begin(), row.end());
    }
    for (const auto& [from, to] : {std::pair{0, 66}, std::pair{66, 67}, std::pair{67, 75}}) {
      const auto rows = past.feed(*backend, *cache, 1, 1, from, to);
      mixed.insert(mixed.end(), rows.begin(), rows.end());
    }
    EXPECT_EQ(single, mixed) << threads << " threads";
    if (first.empty()) first = single;
    EXPECT_EQ(single, first) << threads << " threads";
  }
}

TEST_P(AttentionTest, SlotsOfOneCallDoNotMix) {
  const auto backend = make();
  const Past past(64);
  const auto together = backend->make_self_cache(past.shape()),
             alone = backend->make_self_cache(past.shape());
  // Slot 2 takes positions 0..4, slot 0 position 0, slot 1 positions 0..1, all in one call.
  const std::vector<DecodeRow> rows = {{0, 0, 2, 0}, {0, 1, 2, 0}, {0, 2, 2, 0}, {0, 3, 2, 0},
                                       {0, 4, 2, 0}, {0, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 1, 0}};
  std::vector<float> values;
  for (const DecodeRow& row : rows) {
    const auto at =
        past.qkv.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(row.position) * 3 * past.width);
    values.insert(values.end(), at, at + static_cast<std::ptrdiff_t>(3 * past.width));
  }
  const OwnedRows in = upload(*backend, values, 3 * past.width),
                  out = allocate_rows(*backend, rows.size(), past.width);
  backend->attend_self(*together, 0, in, rows, out);
  EXPECT_EQ(download(*backend, out.rows.rows(0, 5)), past.feed(*backend, *alone, 0, 2, 0, 5));
  EXPECT_EQ(download(*backend, out.rows.rows(5, 1)), past.feed(*backend, *alone, 0, 0, 0, 1));
  EXPECT_EQ(download(*backend, out.rows.rows(6, 2)), past.feed(*backend, *alone, 0, 1, 0, 2));
}

TEST_P(AttentionTest, ACopiedSlotContinuesLikeItsSource) {
  const auto backend = make();
  const Past past(80);
  const auto cache = backend->make_self_cache(past.shape());
  for (int layer = 0; layer < Past::kLayers; ++layer) past.feed(*backend, *cache, layer, 0, 0, 70);
  for (const int copied : {0, 1, 63, 64, 70}) {
    backend->copy_slot(*cache, 0, 2, copied);
    for (int layer = 0; layer < Past::kLayers; ++layer)
      EXPECT_EQ(past.feed(*backend, *cache, layer, 2, copied, 75),
                past.feed(*backend, *cache, layer, 0, copied, 75));
  }
}

TEST_P(AttentionTest, CopyingLeavesLaterPositionsAlone) {
  const auto backend = make();
  const Past past(64);
  const auto cache = backend->make_self_cache(past.shape());
  past.feed(*backend, *cache, 0, 0, 0, 80);
  past.feed(*backend, *cache, 0, 1, 0, 100);
  backend->copy_slot(*cache, 0, 1, 80);  // the same past, so slot 1 must still hold positions 80..99
  const std::vector<double> expected = past.expected(101);
  EXPECT_LT(relative_error(past.feed(*backend, *cache, 0, 1, 100, 101),
                           std::span(expected).subspan(100 * past.width)),
            tolerance(type()));
}

// Two windows of encoded audio and rows that listen to them.
struct Listening {
  static constexpr int kLayers = 2, kWindows = 2, kHeads = 2;
  Listening(size_t head, size_t positions_)
      : width(head * kHeads), positions(positions_), q(random_values(11 * width, 31, 2.0f)) {
    for (unsigned window = 0; window < kWindows; ++window)
      kv.push_back(random_values(positions * 2 * width, 32 + window));
    for (const int32_t window : {0, 0, 1, 1, 1, 1, 1, 1, 0, 1, 0}) rows.push_back({0, 0, 0, window});
  }

  std::unique_ptr<CrossCache> store(Backend& backend) const {
    auto cache = backend.make_cross_cache(
        {kLayers, kWindows, static_cast<int>(positions), kHeads, static_cast<int>(width)});
    for (int window = 0; window < kWindows; ++window)
      backend.store_cross(*cache, 1, window, upload(backend, kv[static_cast<size_t>(window)], 2 * width));
    return cache;
  }

  reference::Attention expected(size_t row) const {
    const std::vector<float>& window = kv[static_cast<size_t>(rows[row].window)];
    return reference::attend(std::span(q).subspan(row * width, width),
                             take_columns(window, 2 * width, 0, width),
                             take_columns(window, 2 * width, width, width), width, kHeads);
  }

  size_t width, positions;
  std::vector<float> q;
  std::vector<std::vector<float>> kv;
  std::vector<DecodeRow> rows;
};

TEST_P(AttentionTest, CrossMatchesTheReferenceWithItsWeights) {
  const auto backend = make();
  for (const auto& [head, positions] :
       {std::pair<size_t, size_t>{64, 1500}, {32, 65}, {80, 64}, {128, 1}, {7, 100}}) {
    const Listening listening(head, positions);
    const auto cache = listening.store(*backend);
    const OwnedRows q = upload(*backend, listening.q, listening.width),
                    out = allocate_rows(*backend, listening.rows.size(), listening.width);
    const int heads[] = {1, 0};
    std::vector<float> weights = {42.0f};  // what is there already must stay
    const CrossWeightsRequest request{heads, &weights};
    backend->attend_cross(*cache, 1, q, listening.rows, out, &request);
    ASSERT_EQ(weights.size(), 1 + listening.rows.size() * 2 * positions);
    EXPECT_EQ(weights[0], 42.0f);
    for (size_t row = 0; row < listening.rows.size(); ++row) {
      const reference::Attention expected = listening.expected(row);
      EXPECT_LT(relative_error(download(*backend, out.rows.rows(row, 1)), expected.out),
                2 * tolerance(type()));
      for (size_t c = 0; c < 2; ++c) {
        const auto got = std::span(weights).subspan(1 + (row * 2 + c) * positions, positions);
        const auto wanted = std::span(expected.weights).subspan((1 - c) * positions, positions);
        EXPECT_LT(relative_error(got, wanted), 4 * tolerance(type()));
        double sum = 0;
        for (const float weight : got) sum += weight;
        EXPECT_NEAR(sum, 1.0, 1e-5);
      }
    }
  }
}

TEST_P(AttentionTest, CrossDoesNotDependOnThreadsNorOnOtherRows) {
  const Listening listening(64, 333);
  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    const auto backend = make(threads);
    const auto cache = listening.store(*backend);
    const OwnedRows q = upload(*backend, listening.q, listening.width),
                    out = allocate_rows(*backend, listening.rows.size(), listening.width);
    backend->attend_cross(*cache, 1, q, listening.rows, out);
    const std::vector<float> all = download(*backend, out);
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << threads << " threads";
    for (size_t row = 0; row < listening.rows.size(); ++row) {
      const OwnedRows alone = allocate_rows(*backend, 1, listening.width);
      backend->attend_cross(*cache, 1, q.rows.rows(row, 1), std::span(listening.rows).subspan(row, 1), alone);
      EXPECT_EQ(download(*backend, alone), download(*backend, out.rows.rows(row, 1))) << "row " << row;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionTest,
                         testing::Combine(testing::ValuesIn(kIsas), testing::ValuesIn(kComputeTypes)),
                         case_name);

}  // namespace
}  // namespace sotto::test
