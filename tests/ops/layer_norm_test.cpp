#include "ops/op_test_support.h"
#include "tensor/reference_ops.h"

namespace sotto::test {
namespace {

using LayerNormTest = OnBackend;

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
  Backend& on = backend();
  for (const size_t width : {1, 2, 3, 5, 15, 16, 17, 31, 64, 100, 384, 1280}) {
    const Fixture fixture(width);
    std::vector<float> x = random_values(37 * width, 3, 4.0f);
    for (float& value : x) value += 50.0f;  // a mean that a one-pass variance would drown in
    x = type().stored(x);
    const auto norm = on.pack_norm(fixture.scale_view, fixture.shift_view);
    const OwnedRows in = upload(on, x, width), out = allocate_rows(on, 37, width);
    on.layer_norm(*norm, in, out);
    const std::vector<double> expected = reference::layer_norm(x, fixture.scale, fixture.shift);
    EXPECT_LT(relative_error(download(on, out), expected), bounds().norm) << "width " << width;
    on.layer_norm(*norm, in, in);
    EXPECT_EQ(download(on, in), download(on, out)) << "in place, width " << width;
  }
}

TEST_P(LayerNormTest, ARowDoesNotDependOnTheOthersNorOnThreads) {
  const Fixture fixture(100);
  constexpr size_t kRows = 600;  // a device may have another kernel for so many
  const std::vector<float> x = random_values(kRows * fixture.width, 4);
  std::vector<float> first;
  for (const int threads : thread_counts()) {
    Backend& on = backend(threads);
    const auto norm = on.pack_norm(fixture.scale_view, fixture.shift_view);
    const OwnedRows in = upload(on, x, fixture.width), out = allocate_rows(on, kRows, fixture.width);
    on.layer_norm(*norm, in, out);
    const std::vector<float> all = download(on, out);
    if (first.empty()) first = all;
    EXPECT_EQ(all, first) << threads << " threads";
    const OwnedRows alone = allocate_rows(on, 1, fixture.width);
    on.layer_norm(*norm, in.rows.rows(41, 1), alone);
    EXPECT_EQ(download(on, alone), download(on, out.rows.rows(41, 1)));
  }
}

TEST_P(LayerNormTest, AConstantRowGivesTheShift) {
  Backend& on = backend();
  const Fixture fixture(48);
  const auto norm = on.pack_norm(fixture.scale_view, fixture.shift_view);
  const OwnedRows rows = upload(on, std::vector<float>(48, 7.0f), 48);
  on.layer_norm(*norm, rows, rows);
  EXPECT_EQ(download(on, rows), type().stored(fixture.shift));
}

INSTANTIATE_TEST_SUITE_P(All, LayerNormTest, testing::ValuesIn(backend_cases(Types::one_per_memory)),
                         backend_case_name);

}  // namespace
}  // namespace sotto::test
