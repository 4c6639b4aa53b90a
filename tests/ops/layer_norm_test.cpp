#include "ops/op_test_support.h"
#include "tensor/reference_ops.h"

namespace sotto::test {
namespace {

using LayerNormTest = OpTest;

struct Fixture {
  explicit Fixture(size_t w)
      : width(w),
        scale(random_values(w, 1)),
        shift(random_values(w, 2)),
        scale_view(view_of(scale, {static_cast<int64_t>(w)})),
        shift_view(view_of(shift, {static_cast<int64_t>(w)})) {}
  size_t width;
  std::vector<float> scale, shift;
  TensorView scale_view, shift_view;
};

TEST_P(LayerNormTest, MatchesTheReference) {
  const auto backend = make();
  for (const size_t width : {1, 2, 3, 5, 15, 16, 17, 31, 64, 100, 384, 1280}) {
    const Fixture fixture(width);
    std::vector<float> x = random_values(37 * width, 3, 4.0f);
    for (float& value : x) value += 50.0f;  // a mean that a one-pass variance would drown in
    const auto norm = backend->pack_norm(fixture.scale_view, fixture.shift_view);
    const OwnedRows in = upload(*backend, x, width), out = allocate_rows(*backend, 37, width);
    backend->layer_norm(*norm, in, out);
    const std::vector<double> expected = reference::layer_norm(x, fixture.scale, fixture.shift);
    EXPECT_LT(relative_error(download(*backend, out), expected), 2e-5) << "width " << width;
    backend->layer_norm(*norm, in, in);
    EXPECT_EQ(download(*backend, in), download(*backend, out)) << "in place, width " << width;
  }
}

TEST_P(LayerNormTest, ARowDoesNotDependOnTheOthersNorOnThreads) {
  const Fixture fixture(100);
  const std::vector<float> x = random_values(67 * fixture.width, 4);
  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    const auto backend = make(threads);
    const auto norm = backend->pack_norm(fixture.scale_view, fixture.shift_view);
    const OwnedRows in = upload(*backend, x, fixture.width), out = allocate_rows(*backend, 67, fixture.width);
    backend->layer_norm(*norm, in, out);
    const std::vector<float> all = download(*backend, out);
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << threads << " threads";
    const OwnedRows alone = allocate_rows(*backend, 1, fixture.width);
    backend->layer_norm(*norm, in.rows.rows(41, 1), alone);
    EXPECT_EQ(download(*backend, alone), download(*backend, out.rows.rows(41, 1)));
  }
}

TEST_P(LayerNormTest, AConstantRowGivesTheShift) {
  const auto backend = make();
  const Fixture fixture(48);
  const auto norm = backend->pack_norm(fixture.scale_view, fixture.shift_view);
  const OwnedRows rows = upload(*backend, std::vector<float>(48, 7.0f), 48);
  backend->layer_norm(*norm, rows, rows);
  EXPECT_EQ(download(*backend, rows), fixture.shift);
}

INSTANTIATE_TEST_SUITE_P(All, LayerNormTest,
                         testing::Combine(testing::ValuesIn(kIsas), testing::Values(ComputeType::float32)),
                         case_name);

}  // namespace
}  // namespace sotto::test
