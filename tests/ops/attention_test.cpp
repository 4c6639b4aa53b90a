#include "ops/op_test_support.h"
#include "tensor/reference_ops.h"

namespace sotto::test {
namespace {

using AttentionTest = OnBackend;

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
                               int windows, Placement placement = Placement::aligned) {
  const OwnedRows in = upload(backend, qkv, 3 * width, Precision::activation, placement),
                  out = allocate_rows(backend, in.rows.count, width, Precision::activation, placement);
  backend.attend_encoder(in, out, heads, windows);
  return download(backend, out);
}

TEST_P(AttentionTest, EncoderMatchesTheReference) {
  Backend& on = backend();
  struct Case {
    size_t head, heads, positions, windows;
  };
  for (const Case c :
       {Case{64, 2, 301, 1}, Case{32, 3, 257, 2}, Case{80, 1, 100, 1}, Case{128, 2, 65, 2},
        Case{24, 2, 33, 1}, Case{7, 1, 19, 3}, Case{64, 1, 1, 2}, Case{256, 1, 40, 1}, Case{1, 2, 20, 1}}) {
    if (c.head > GetParam().backend->widest_head) continue;
    const size_t width = c.head * c.heads;
    const std::vector<float> qkv =
        type().stored(random_values(c.windows * c.positions * 3 * width, 11, 1.5f));
    const std::vector<double> expected = reference_encoder(qkv, width, c.heads, c.windows);
    for (const Placement placement : {Placement::odd, Placement::aligned}) {
      const std::vector<float> out =
          run_encoder(on, qkv, width, static_cast<int>(c.heads), static_cast<int>(c.windows), placement);
      EXPECT_LT(relative_error(out, expected), bounds().encoder)
          << "head " << c.head << ", positions " << c.positions;
    }
  }
}

TEST_P(AttentionTest, EncoderAtFullLength) {
  constexpr size_t kPositions = 1500, kHead = 64, kCompared = 40;
  Backend& on = backend();
  const std::vector<float> qkv = type().stored(random_values(kPositions * 3 * kHead, 12, 2.0f));
  const std::vector<float> out = run_encoder(on, qkv, kHead, 1, 1);
  const std::vector<float> q = take_columns(std::span(qkv).last(kCompared * 3 * kHead), 3 * kHead, 0, kHead);
  const auto expected = reference::attend(q, take_columns(qkv, 3 * kHead, kHead, kHead),
                                          take_columns(qkv, 3 * kHead, 2 * kHead, kHead), kHead, 1);
  EXPECT_LT(relative_error(std::span(out).last(kCompared * kHead), expected.out), bounds().encoder);
}

TEST_P(AttentionTest, EncoderSurvivesLargeScoresAndZeros) {
  Backend& on = backend();
  std::vector<float> qkv =
      type().stored(random_values(size_t{300} * 3 * 64, 13, 30.0f));  // scores of thousands
  EXPECT_LT(relative_error(run_encoder(on, qkv, 64, 1, 1), reference_encoder(qkv, 64, 1, 1)), 2e-2);
  std::fill(qkv.begin(), qkv.end(), 0.0f);
  for (const float value : run_encoder(on, qkv, 64, 1, 1)) ASSERT_EQ(value, 0.0f);
}

TEST_P(AttentionTest, EncoderDoesNotDependOnThreadsNorOnOtherWindows) {
  constexpr size_t kWidth = 128, kPositions = 203;
  const std::vector<float> qkv = random_values(3 * kPositions * 3 * kWidth, 14);
  const std::vector<float> second(qkv.begin() + kPositions * 3 * kWidth,
                                  qkv.begin() + 2 * kPositions * 3 * kWidth);
  std::vector<float> first;
  for (const int threads : thread_counts()) {
    Backend& on = backend(threads);
    const std::vector<float> all = run_encoder(on, qkv, kWidth, 2, 3);
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << threads << " threads";
    const std::vector<float> alone = run_encoder(on, second, kWidth, 2, 1);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), all.begin() + kPositions * kWidth))
        << threads << " threads";
  }
}

// A decoder's past: the same random rows of query, key and value, to be fed in any split.
struct Past {
  static constexpr int kLayers = 2, kSlots = 3, kPositions = 150, kHeads = 2;
  Past(size_t head, const TestType& type)
      : width(head * kHeads), qkv(type.stored(random_values(kPositions * 3 * width, 21))) {}

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
  Backend& on = backend();
  for (const size_t head : {32, 64, 80, 128, 7}) {
    const Past past(head, type());
    const auto cache = on.make_self_cache(past.shape());
    EXPECT_LT(
        relative_error(past.feed(on, *cache, 1, 2, 0, Past::kPositions), past.expected(Past::kPositions)),
        bounds().cached)
        << "head " << head;
  }
}

TEST_P(AttentionTest, PromptThenStepsEqualsStepByStep) {
  const Past past(64, type());
  std::vector<float> first;
  for (const int threads : thread_counts()) {
    Backend& on = backend(threads);
    const auto cache = on.make_self_cache(past.shape());
    std::vector<float> single, mixed;
    for (int position = 0; position < 75; ++position) {
      const auto row = past.feed(on, *cache, 0, 0, position, position + 1);
      single.insert(single.end(), row.begin(), row.end());
    }
    for (const auto& [from, to] : {std::pair{0, 66}, std::pair{66, 67}, std::pair{67, 75}}) {
      const auto rows = past.feed(on, *cache, 1, 1, from, to);
      mixed.insert(mixed.end(), rows.begin(), rows.end());
    }
    EXPECT_EQ(single, mixed) << threads << " threads";
    if (first.empty()) first = single;
    EXPECT_EQ(single, first) << threads << " threads";
  }
}

TEST_P(AttentionTest, SlotsOfOneCallDoNotMix) {
  Backend& on = backend();
  const Past past(64, type());
  const auto together = on.make_self_cache(past.shape()), alone = on.make_self_cache(past.shape());
  // Slot 2 takes positions 0..4, slot 0 position 0, slot 1 positions 0..1, all in one call.
  const std::vector<DecodeRow> rows = {{0, 0, 2, 0}, {0, 1, 2, 0}, {0, 2, 2, 0}, {0, 3, 2, 0},
                                       {0, 4, 2, 0}, {0, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 1, 0}};
  std::vector<float> values;
  for (const DecodeRow& row : rows) {
    const auto at =
        past.qkv.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(row.position) * 3 * past.width);
    values.insert(values.end(), at, at + static_cast<std::ptrdiff_t>(3 * past.width));
  }
  const OwnedRows in = upload(on, values, 3 * past.width), out = allocate_rows(on, rows.size(), past.width);
  on.attend_self(*together, 0, in, rows, out);
  EXPECT_EQ(download(on, out.rows.rows(0, 5)), past.feed(on, *alone, 0, 2, 0, 5));
  EXPECT_EQ(download(on, out.rows.rows(5, 1)), past.feed(on, *alone, 0, 0, 0, 1));
  EXPECT_EQ(download(on, out.rows.rows(6, 2)), past.feed(on, *alone, 0, 1, 0, 2));
}

TEST_P(AttentionTest, ACopiedSlotContinuesLikeItsSource) {
  Backend& on = backend();
  const Past past(80, type());
  const auto cache = on.make_self_cache(past.shape());
  for (int layer = 0; layer < Past::kLayers; ++layer) past.feed(on, *cache, layer, 0, 0, 70);
  for (const int copied : {0, 1, 63, 64, 70}) {
    on.copy_slot(*cache, 0, 2, copied);
    for (int layer = 0; layer < Past::kLayers; ++layer)
      EXPECT_EQ(past.feed(on, *cache, layer, 2, copied, 75), past.feed(on, *cache, layer, 0, copied, 75));
  }
}

TEST_P(AttentionTest, CopyingLeavesLaterPositionsAlone) {
  Backend& on = backend();
  const Past past(64, type());
  const auto cache = on.make_self_cache(past.shape());
  past.feed(on, *cache, 0, 0, 0, 80);
  past.feed(on, *cache, 0, 1, 0, 100);
  on.copy_slot(*cache, 0, 1, 80);  // the same past, so slot 1 must still hold positions 80..99
  const std::vector<double> expected = past.expected(101);
  EXPECT_LT(
      relative_error(past.feed(on, *cache, 0, 1, 100, 101), std::span(expected).subspan(100 * past.width)),
      bounds().cached);
}

// Two windows of encoded audio and rows that listen to them.
struct Listening {
  static constexpr int kLayers = 2, kWindows = 2, kHeads = 2;
  Listening(size_t head, size_t positions_, const TestType& type)
      : width(head * kHeads), positions(positions_), q(type.stored(random_values(11 * width, 31, 2.0f))) {
    for (unsigned window = 0; window < kWindows; ++window)
      kv.push_back(type.stored(random_values(positions * 2 * width, 32 + window)));
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
  Backend& on = backend();
  for (const auto& [head, positions] :
       {std::pair<size_t, size_t>{64, 1500}, {32, 65}, {80, 64}, {128, 1}, {7, 100}}) {
    const Listening listening(head, positions, type());
    const auto cache = listening.store(on);
    const OwnedRows q = upload(on, listening.q, listening.width),
                    out = allocate_rows(on, listening.rows.size(), listening.width);
    const int heads[] = {1, 0};
    std::vector<float> weights = {42.0f};  // what is there already must stay
    const CrossWeightsRequest request{heads, &weights};
    on.attend_cross(*cache, 1, q, listening.rows, out, &request);
    ASSERT_EQ(weights.size(), 1 + listening.rows.size() * 2 * positions);
    EXPECT_EQ(weights[0], 42.0f);
    for (size_t row = 0; row < listening.rows.size(); ++row) {
      const reference::Attention expected = listening.expected(row);
      EXPECT_LT(relative_error(download(on, out.rows.rows(row, 1)), expected.out), 2 * bounds().cached);
      for (size_t c = 0; c < 2; ++c) {
        const auto got = std::span(weights).subspan(1 + (row * 2 + c) * positions, positions);
        const auto wanted = std::span(expected.weights).subspan((1 - c) * positions, positions);
        EXPECT_LT(relative_error(got, wanted), 4 * bounds().cached);
        double sum = 0;
        for (const float weight : got) sum += weight;
        EXPECT_NEAR(sum, 1.0, 1e-5);
      }
    }
  }
}

TEST_P(AttentionTest, CrossDoesNotDependOnThreadsNorOnOtherRows) {
  const Listening listening(64, 333, type());
  std::vector<float> first;
  for (const int threads : thread_counts()) {
    Backend& on = backend(threads);
    const auto cache = listening.store(on);
    const OwnedRows q = upload(on, listening.q, listening.width),
                    out = allocate_rows(on, listening.rows.size(), listening.width);
    on.attend_cross(*cache, 1, q, listening.rows, out);
    const std::vector<float> all = download(on, out);
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << threads << " threads";
    for (size_t row = 0; row < listening.rows.size(); ++row) {
      const OwnedRows alone = allocate_rows(on, 1, listening.width);
      on.attend_cross(*cache, 1, q.rows.rows(row, 1), std::span(listening.rows).subspan(row, 1), alone);
      EXPECT_EQ(download(on, alone), download(on, out.rows.rows(row, 1))) << "row " << row;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AttentionTest, testing::ValuesIn(backend_cases(Types::every)),
                         backend_case_name);

}  // namespace
}  // namespace sotto::test
