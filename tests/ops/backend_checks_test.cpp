#include <gmock/gmock.h>

#include "backend/cpu/cpu_backend.h"
#include "base/error.h"
#include "ops/op_test_support.h"

namespace sotto::test {
namespace {

using testing::HasSubstr;

class BackendChecksTest : public testing::Test {
 protected:
  // Runs a call that must be refused as a bug of ours, with these words.
  template <class Call>
  void refused(Call call, const std::vector<std::string>& words) {
    try {
      call();
      ADD_FAILURE() << "accepted; expected: " << words.front();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::internal);
      for (const std::string& word : words) EXPECT_THAT(error.what(), HasSubstr(word));
    }
  }

  std::unique_ptr<Matrix> matrix(int64_t outputs, int64_t inputs) {
    const std::vector<float> values(static_cast<size_t>(outputs * inputs));
    const TensorView weight = view_of(values, {outputs, inputs});
    const Backend::MatrixPart part{&weight, nullptr};
    return backend_->pack_matrix({&part, 1});
  }
  std::unique_ptr<Norm> norm(size_t width) {
    const std::vector<float> values(width);
    const TensorView view = view_of(values, {static_cast<int64_t>(width)});
    return backend_->pack_norm(view, view);
  }

  std::unique_ptr<Backend> backend_ = make_cpu_backend({.compute_type = ComputeType::float32, .threads = 1});
  std::unique_ptr<Memory> memory_ = backend_->allocate(1000);
  Rows rows(size_t count, size_t width) { return {memory_.get(), 0, count, width, width}; }
};

TEST_F(BackendChecksTest, RowsLieInsideTheirMemory) {
  refused([&] { backend_->fill_zero({nullptr, 0, 1, 1, 1}); }, {"fill_zero", "no memory"});
  refused([&] { backend_->fill_zero(rows(101, 10)); }, {"101 rows of 10", "1000 elements"});
  refused([&] { backend_->fill_zero({memory_.get(), 991, 1, 10, 10}); }, {"offset 991"});
  refused([&] { backend_->fill_zero({memory_.get(), 0, 2, 10, 9}); }, {"9 apart"});
  refused(
      [&] {
        backend_->fill_zero({memory_.get(), 0, 2, 10, std::numeric_limits<size_t>::max()});
      },
      {"do not fit"});
  refused(
      [&] {
        backend_->fill_zero({memory_.get(), std::numeric_limits<size_t>::max(), 1, 2, 2});
      },
      {"do not fit"});
  EXPECT_NO_THROW(backend_->fill_zero(rows(100, 10)));
  EXPECT_NO_THROW(backend_->fill_zero(rows(0, 10)));
}

TEST_F(BackendChecksTest, TransfersHaveTheRightSize) {
  std::vector<float> values(19);
  refused([&] { backend_->write(rows(2, 10), values); }, {"write", "20", "19"});
  refused([&] { backend_->read(rows(2, 10), values); }, {"read", "20", "19"});
}

TEST_F(BackendChecksTest, WeightsFitTogether) {
  const std::vector<float> values(60);
  const TensorView three = view_of(values, {20, 3}), four = view_of(values, {15, 4}),
                   flat = view_of(values, {60});
  const TensorView bias = view_of(std::span(values).first(19), {19});
  const Backend::MatrixPart unequal[] = {{&three, nullptr}, {&four, nullptr}},
                            wrong_bias[] = {{&three, &bias}}, one_dimension[] = {{&flat, nullptr}},
                            missing[] = {{nullptr, nullptr}};
  refused([&] { backend_->pack_matrix({}); }, {"pack_matrix", "no weights"});
  refused([&] { backend_->pack_matrix(unequal); }, {"inputs should be 3 but is 4"});
  refused([&] { backend_->pack_matrix(wrong_bias); }, {"bias should be 20 but is 19"});
  refused([&] { backend_->pack_matrix(one_dimension); }, {"[60]"});
  refused([&] { backend_->pack_matrix(missing); }, {"none"});
  refused([&] { backend_->pack_norm(bias, flat); }, {"pack_norm", "19", "60"});
}

TEST_F(BackendChecksTest, LinearAndConvolve) {
  const auto weights = matrix(8, 6);
  refused([&] { backend_->linear(*weights, rows(2, 5), rows(2, 8)); }, {"linear", "x", "6", "5"});
  refused([&] { backend_->linear(*weights, rows(2, 6), rows(2, 7)); }, {"linear", "y", "8", "7"});
  refused([&] { backend_->linear(*weights, rows(2, 6), rows(3, 8)); }, {"2 rows", "3"});
  const Rows residual = rows(1, 8);
  refused([&] { backend_->linear(*weights, rows(2, 6), rows(2, 8), {.residual = &residual}); }, {"residual"});
  refused([&] { backend_->convolve(*weights, rows(4, 3), rows(2, 8), 1, nullptr); }, {"convolve", "9", "6"});
  refused([&] { backend_->convolve(*weights, rows(4, 2), rows(3, 8), 1, nullptr); }, {"3 outputs", "4 rows"});
  refused([&] { backend_->convolve(*weights, rows(4, 2), rows(2, 8), 0, nullptr); }, {"stride", "0"});
  refused([&] { backend_->convolve(*weights, rows(4, 2), rows(2, 8), 1, &residual); }, {"addend"});
}

TEST_F(BackendChecksTest, NormAndEncoder) {
  const auto weights = norm(6);
  refused([&] { backend_->layer_norm(*weights, rows(2, 5), rows(2, 5)); }, {"layer_norm", "6", "5"});
  refused([&] { backend_->layer_norm(*weights, rows(2, 6), rows(1, 6)); }, {"layer_norm", "rows"});
  refused([&] { backend_->attend_encoder(rows(4, 17), rows(4, 6), 2, 1); }, {"attend_encoder", "18", "17"});
  refused([&] { backend_->attend_encoder(rows(4, 18), rows(4, 6), 4, 1); }, {"6", "4 heads"});
  refused([&] { backend_->attend_encoder(rows(4, 18), rows(4, 6), 0, 1); }, {"heads", "0"});
  refused([&] { backend_->attend_encoder(rows(4, 18), rows(4, 6), 2, 3); }, {"4 rows", "3 windows"});
  refused([&] { backend_->attend_encoder(rows(4, 18), rows(3, 6), 2, 1); }, {"4 rows", "3"});
}

TEST_F(BackendChecksTest, Caches) {
  refused([&] { backend_->make_self_cache({0, 1, 1, 1, 8}); }, {"make_self_cache", "layers"});
  refused([&] { backend_->make_cross_cache({1, 1, 1, 3, 8}); }, {"make_cross_cache", "3 heads"});
  constexpr int kHuge = std::numeric_limits<int>::max();
  EXPECT_THROW(backend_->make_self_cache({kHuge, kHuge, kHuge, 1, kHuge}), Error);

  const auto self = backend_->make_self_cache({2, 3, 5, 2, 8});
  const auto attend = [&](int layer, std::vector<DecodeRow> which) {
    backend_->attend_self(*self, layer, rows(which.size(), 24), which, rows(which.size(), 8));
  };
  EXPECT_NO_THROW(attend(1, {{0, 0, 2, 0}, {0, 1, 2, 0}, {0, 4, 0, 0}}));
  refused([&] { attend(2, {{0, 0, 0, 0}}); }, {"attend_self", "layer 2"});
  refused([&] { attend(0, {{0, 5, 0, 0}}); }, {"position 5", "0..4"});
  refused([&] { attend(0, {{0, -1, 0, 0}}); }, {"position -1"});
  refused([&] { attend(0, {{0, 0, 3, 0}}); }, {"slot 3", "0..2"});
  refused([&] { attend(0, {{0, 1, 0, 0}, {0, 3, 0, 0}}); }, {"position 2", "3"});
  refused([&] { attend(0, {{0, 0, 0, 0}, {0, 0, 1, 0}, {0, 1, 0, 0}}); }, {"rows 0 and 2", "neighbours"});
  refused([&] { backend_->copy_slot(*self, 0, 3, 1); }, {"copy_slot", "3"});
  refused([&] { backend_->copy_slot(*self, 0, 1, 6); }, {"positions 6", "0..5"});

  const auto cross = backend_->make_cross_cache({2, 3, 5, 2, 8});
  const std::vector<DecodeRow> one = {{0, 0, 0, 0}}, outside = {{0, 0, 0, 3}};
  std::vector<float> kept;
  const int heads[] = {2};
  const CrossWeightsRequest bad_head{heads, &kept}, nowhere{{}, nullptr};
  refused([&] { backend_->store_cross(*cross, 0, 0, rows(4, 16)); }, {"store_cross", "5 rows", "4"});
  refused([&] { backend_->store_cross(*cross, 0, 3, rows(5, 16)); }, {"window 3"});
  refused([&] { backend_->attend_cross(*cross, 0, rows(1, 8), outside, rows(1, 8)); },
          {"attend_cross", "window 3"});
  refused([&] { backend_->attend_cross(*cross, 0, rows(1, 8), one, rows(1, 8), &bad_head); }, {"head 2"});
  refused([&] { backend_->attend_cross(*cross, 0, rows(1, 8), one, rows(1, 8), &nowhere); }, {"nowhere"});
}

TEST_F(BackendChecksTest, Embed) {
  const auto table = matrix(10, 8);
  const std::vector<DecodeRow> token = {{10, 0, 0, 0}}, position = {{9, 4, 0, 0}};
  refused([&] { backend_->embed(*table, rows(4, 8), token, rows(1, 8)); }, {"embed", "token 10", "0..9"});
  refused([&] { backend_->embed(*table, rows(4, 8), position, rows(1, 8)); }, {"position 4", "0..3"});
  refused([&] { backend_->embed(*table, rows(4, 7), position, rows(1, 8)); }, {"8", "7"});
}

TEST_F(BackendChecksTest, SampleRequests) {
  const auto sample = [&](const SampleRequest& request) { backend_->sample(rows(1, 10), {&request, 1}); };
  const int32_t outside[] = {10};
  const TokenRange too_long[] = {{3, 11}}, backwards[] = {{3, 2}};
  refused([&] { sample({.suppressed = outside}); }, {"sample", "suppressed token 10"});
  refused([&] { sample({.penalised = outside}); }, {"penalised token 10"});
  refused([&] { sample({.banned = too_long}); }, {"[3, 11)", "10 tokens"});
  refused([&] { sample({.banned = backwards}); }, {"[3, 2)"});
  refused([&] { sample({.timestamp_begin = 11}); }, {"timestamp 11"});
  refused([&] { sample({.candidates = 0}); }, {"candidates", "0"});
  refused([&] { sample({.penalty = 0}); }, {"penalty"});
  refused([&] { sample({.temperature = 1, .uniform = 1}); }, {"cannot draw"});
  refused([&] { sample({.probe = 10}); }, {"probe 10"});
  refused([&] { backend_->sample(rows(2, 10), {}); }, {"0 rows", "2"});
  EXPECT_NO_THROW(sample({.timestamp_begin = 10}));
}

TEST(ComputeTypeTest, NamesGoBothWays) {
  for (const char* name :
       {"auto", "float32", "float16", "bfloat16", "int8", "int8_float32", "int8_float16"}) {
    const auto type = compute_type_from_name(name);
    ASSERT_TRUE(type.has_value()) << name;
    EXPECT_EQ(compute_type_name(*type), name);
  }
  EXPECT_FALSE(compute_type_from_name("int4").has_value());
  EXPECT_FALSE(compute_type_from_name("").has_value());
}

}  // namespace
}  // namespace sotto::test
