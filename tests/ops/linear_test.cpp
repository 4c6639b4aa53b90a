// Matrix products, convolution and embedding on every backend and compute type, against sums in double
// precision over the weights as the type stores them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "ops/op_test_support.h"
#include "tensor/dtype.h"
#include "tensor/reference_ops.h"

namespace sotto::test {
namespace {

constexpr float kPoison = 1216.0f;  // the same in every type

std::vector<float> uniform_values(size_t count, unsigned seed, float scale = 1.0f) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<float> distribution(-scale, scale);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

struct Weights {
  Weights(size_t out, size_t in, unsigned seed = 1)
      : outputs(out),
        inputs(in),
        values(uniform_values(out * in, seed)),
        bias(uniform_values(out, seed + 1)) {}
  size_t outputs, inputs;
  std::vector<float> values, bias;

  std::unique_ptr<Matrix> pack(Backend& backend, MatrixUse use = MatrixUse::few_rows) const {
    const TensorView weight = view_of(values, {static_cast<int64_t>(outputs), static_cast<int64_t>(inputs)});
    const TensorView shift = view_of(bias, {static_cast<int64_t>(outputs)});
    const Backend::MatrixPart part{&weight, &shift};
    return backend.pack_matrix({&part, 1}, use);
  }
};

// The nearest of the 255 steps that int8 has for values up to `largest`.
float through_int8(float value, float largest) {
  if (largest == 0) return 0;
  return std::nearbyint(value * (127.0f / largest)) * (largest / 127.0f);
}

float largest_magnitude(std::span<const float> values) {
  float largest = 0;
  for (const float value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// What a row of weights is after the compute type has stored it, or a row that meets such weights.
std::vector<float> as_weights(std::span<const float> row, const TestType& type) {
  std::vector<float> result(row.begin(), row.end());
  const float largest = largest_magnitude(row);
  for (float& value : result) {
    if (type.weights == Storage::int8) value = through_int8(value, largest);
    if (type.weights == Storage::float16) value = half_to_float(float_to_half(value));
    if (type.weights == Storage::bfloat16) value = bfloat_to_float(float_to_bfloat(value));
  }
  return result;
}
std::vector<float> as_inputs(std::span<const float> row, const TestType& type) {
  if (type.quantises_rows) return as_weights(row, type);
  return {row.begin(), row.end()};
}

std::vector<double> product(const Weights& weights, std::span<const float> x, const TestType& type) {
  std::vector<float> rows, inputs;
  for (size_t n = 0; n < weights.outputs; ++n)
    std::ranges::copy(as_weights(std::span(weights.values).subspan(n * weights.inputs, weights.inputs), type),
                      std::back_inserter(rows));
  for (size_t first = 0; first < x.size(); first += weights.inputs)
    std::ranges::copy(as_inputs(x.subspan(first, weights.inputs), type), std::back_inserter(inputs));
  return reference::linear(inputs, x.size() / weights.inputs, rows, weights.bias, weights.outputs);
}

// Rows at an odd or an aligned place and distance inside a memory full of poison; checks that nothing around
// them was touched.
class TestRows {
 public:
  TestRows(Backend& backend, size_t count, size_t width, std::span<const float> values = {},
           Placement placement = Placement::odd)
      : offset_(placement == Placement::odd ? 3 : 8),
        backend_(backend),
        memory_(backend.allocate((count + 1) * row_stride(width, placement) + offset_)) {
    whole = {memory_.get(), 0, 1, memory_->elements(), memory_->elements()};
    backend.write(whole, std::vector<float>(memory_->elements(), kPoison));
    rows = {memory_.get(), offset_, count, width, row_stride(width, placement)};
    if (!values.empty()) backend.write(rows, values);
  }

  std::vector<float> read() const {
    std::vector<float> values(rows.count * rows.width);
    backend_.read(rows, values);
    return values;
  }

  void expect_surroundings_untouched() const {
    std::vector<float> all(memory_->elements());
    backend_.read(whole, all);
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t at = i - offset_;
      const bool inside = i >= offset_ && at / rows.stride < rows.count && at % rows.stride < rows.width;
      if (inside) continue;
      ASSERT_EQ(all[i], kPoison) << "element " << i;
    }
  }

  Rows rows, whole;

 private:
  size_t offset_;
  Backend& backend_;
  std::unique_ptr<Memory> memory_;
};

class LinearTest : public OnBackend {
 protected:
  const std::vector<MatrixUse>& uses() const { return GetParam().backend->uses; }

  double tolerance(size_t inputs, double value) const {
    return bounds().product + bounds().per_input * static_cast<double>(inputs) + type().step(value);
  }
  std::vector<float> activations(size_t count, unsigned seed) const {
    return type().stored(uniform_values(count, seed));
  }

  static std::vector<float> run(Backend& on, const Matrix& matrix, std::span<const float> x, size_t rows) {
    const TestRows in(on, rows, matrix.inputs(), x), out(on, rows, matrix.outputs());
    on.linear(matrix, in.rows, out.rows);
    return out.read();
  }

  void check(size_t rows, size_t outputs, size_t inputs) const {
    for (const MatrixUse use : uses()) check(rows, outputs, inputs, use);
  }
  void check(size_t rows, size_t outputs, size_t inputs, MatrixUse use) const {
    SCOPED_TRACE(testing::Message() << rows << " rows, " << outputs << " outputs, " << inputs << " inputs");
    const Weights weights(outputs, inputs);
    const std::vector<float> x = activations(rows * inputs, 7);
    const std::vector<double> expected = product(weights, x, type());
    SCOPED_TRACE(use == MatrixUse::few_rows ? "few rows" : "many rows");
    const auto matrix = weights.pack(backend(), use);
    for (const Placement placement : {Placement::odd, Placement::aligned}) {
      const TestRows in(backend(), rows, inputs, x, placement), out(backend(), rows, outputs, {}, placement);
      backend().linear(*matrix, in.rows, out.rows);
      const std::vector<float> y = out.read();
      for (size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], expected[i], tolerance(inputs, expected[i])) << "value " << i;
      out.expect_surroundings_untouched();
    }
  }
};

TEST_P(LinearTest, OddShapes) {
  for (const size_t rows : {0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 25, 50})
    for (const auto& [outputs, inputs] :
         {std::pair<size_t, size_t>{1, 1}, {1, 7}, {7, 1}, {33, 5}, {32, 64}, {70, 129}})
      check(rows, outputs, inputs);
}

TEST_P(LinearTest, EveryRestOfOutputsAndInputs) {
  for (size_t n = 1; n <= 66; ++n) check(3, n, 2 * n + 1);
}

TEST_P(LinearTest, WhisperShapes) {
  check(1, 384, 384);
  check(5, 1000, 384);
  check(130, 96, 1536);
}

TEST_P(LinearTest, ARowIsTheSameAloneAndInAnyCompany) {
  constexpr size_t kRows = 61, kOutputs = 137;
  for (const size_t inputs : {203, 192}) {  // tensor cores want a round number
    const Weights weights(kOutputs, inputs);
    const std::vector<float> x = activations(kRows * inputs, 3);
    for (const MatrixUse use : uses()) {
      const auto matrix = weights.pack(backend(), use);
      const std::vector<float> together = run(backend(), *matrix, x, kRows);
      for (size_t row = 0; row < kRows; ++row) {
        for (const size_t count : {1, 2, 5, 12}) {
          if (row + count > kRows) continue;
          const auto part = std::span(x).subspan(row * inputs, count * inputs);
          const std::vector<float> alone = run(backend(), *matrix, part, count);
          ASSERT_EQ(std::memcmp(alone.data(), together.data() + row * kOutputs, alone.size() * sizeof(float)),
                    0)
              << "rows " << row << " to " << row + count << ", " << inputs << " inputs";
        }
      }
    }
  }
}

TEST_P(LinearTest, TheNumberOfThreadsChangesNothing) {
  if (thread_counts().size() < 2) GTEST_SKIP() << "this device has no threads to choose";
  constexpr size_t kRows = 1500, kOutputs = 200, kInputs = 100;
  const Weights weights(kOutputs, kInputs);
  const std::vector<float> x = activations(kRows * kInputs, 3);
  std::vector<float> first;
  for (const int threads : thread_counts()) {
    const auto matrix = weights.pack(backend(threads));
    const std::vector<float> y = run(backend(threads), *matrix, x, kRows);
    if (first.empty()) first = y;
    ASSERT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)), 0) << threads << " threads";
  }
}

TEST_P(LinearTest, ActivationsBeyondOnePortionAreAllMultiplied) {
  constexpr size_t kRows = 1700, kInputs = 4100;  // more than the backend packs at a time, in every type
  const Weights weights(9, kInputs);
  const std::vector<float> x = activations(kRows * kInputs, 3);
  for (const MatrixUse use : uses()) {
    const auto matrix = weights.pack(backend(), use);
    const std::vector<float> y = run(backend(), *matrix, x, kRows);
    for (const size_t row : {size_t{0}, kRows / 2, kRows / 2 + 7, kRows - 1}) {
      const std::vector<float> alone =
          run(backend(), *matrix, std::span(x).subspan(row * kInputs, kInputs), 1);
      ASSERT_EQ(std::memcmp(alone.data(), y.data() + row * 9, sizeof(float) * 9), 0) << "row " << row;
    }
  }
}

TEST_P(LinearTest, GeluAndResidual) {
  constexpr size_t kRows = 17, kOutputs = 75, kInputs = 40;
  const Weights weights(kOutputs, kInputs);
  const std::vector<float> x = activations(kRows * kInputs, 5), before = activations(kRows * kOutputs, 6);
  const auto matrix = weights.pack(backend());
  const std::vector<float> plain = run(backend(), *matrix, x, kRows);
  const TestRows in(backend(), kRows, kInputs, x), residual(backend(), kRows, kOutputs, before);
  for (const bool with_gelu : {false, true}) {
    for (const bool with_residual : {false, true}) {
      for (const bool in_place : {false, true}) {
        const TestRows out(backend(), kRows, kOutputs, before);
        const Rows& added = in_place ? out.rows : residual.rows;
        backend().linear(*matrix, in.rows, out.rows,
                         {.gelu = with_gelu, .residual = with_residual ? &added : nullptr});
        const std::vector<float> y = out.read();
        for (size_t i = 0; i < y.size(); ++i) {
          const double value = with_gelu ? reference::gelu(plain[i]) : plain[i];
          const double rest = with_residual ? before[i] : 0;
          ASSERT_NEAR(y[i], value + rest, 3e-6 + type().step(plain[i]) + type().step(value + rest)) << i;
        }
        out.expect_surroundings_untouched();
      }
    }
  }
}

TEST_P(LinearTest, GeluIsExactEverywhere) {
  // One input of weight 1: the output is gelu(x).
  const std::vector<float> one = {1.0f};
  const TensorView weight = view_of(one, {1, 1});
  const Backend::MatrixPart part{&weight, nullptr};
  const auto matrix = backend().pack_matrix({&part, 1});
  std::vector<float> x;
  for (float value = -12.0f; value <= 12.0f; value += 0.0078125f) x.push_back(type().stored(value));
  const TestRows in(backend(), x.size(), 1, x), out(backend(), x.size(), 1);
  backend().linear(*matrix, in.rows, out.rows, {.gelu = true});
  const std::vector<float> y = out.read();
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(y[i], reference::gelu(x[i]), 1e-6 * std::max(1.0f, std::abs(x[i])) + type().step(x[i]))
        << x[i];
}

TEST_P(LinearTest, StackedPartsWithAndWithoutBias) {
  constexpr size_t kInputs = 50;
  const Weights a(20, kInputs, 1), b(45, kInputs, 2), c(7, kInputs, 3);
  const TensorView a_view = view_of(a.values, {20, kInputs}), b_view = view_of(b.values, {45, kInputs}),
                   c_view = view_of(c.values, {7, kInputs}), a_bias = view_of(a.bias, {20}),
                   c_bias = view_of(c.bias, {7});
  const Backend::MatrixPart parts[] = {{&a_view, &a_bias}, {&b_view, nullptr}, {&c_view, &c_bias}};
  const auto matrix = backend().pack_matrix(parts);
  ASSERT_EQ(matrix->outputs(), 72u);
  const std::vector<float> x = activations(2 * kInputs, 9);
  const std::vector<float> y = run(backend(), *matrix, x, 2);
  Weights no_bias = b;
  std::fill(no_bias.bias.begin(), no_bias.bias.end(), 0.0f);
  size_t begin = 0;
  for (const Weights* part : std::initializer_list<const Weights*>{&a, &no_bias, &c}) {
    const std::vector<float> alone = run(backend(), *part->pack(backend()), x, 2);
    for (size_t row = 0; row < 2; ++row)
      for (size_t n = 0; n < part->outputs; ++n)
        ASSERT_EQ(y[row * 72 + begin + n], alone[row * part->outputs + n]) << begin + n;
    begin += part->outputs;
  }
}

TEST_P(LinearTest, Convolution) {
  constexpr size_t kIn = 21, kOut = 37, kFrames = 30;
  const std::vector<float> kernel = uniform_values(kOut * kIn * 3, 1);
  Weights flat(kOut, kIn * 3);
  for (size_t n = 0; n < kOut; ++n)
    for (size_t in = 0; in < kIn; ++in)
      for (size_t tap = 0; tap < 3; ++tap)
        flat.values[n * kIn * 3 + tap * kIn + in] = kernel[(n * kIn + in) * 3 + tap];
  const TensorView weight = view_of(kernel, {kOut, kIn, 3}), bias = view_of(flat.bias, {kOut});
  const Backend::MatrixPart part{&weight, &bias};
  const auto matrix = backend().pack_matrix({&part, 1});

  std::vector<float> x = activations((kFrames + 2) * kIn, 2);
  std::fill_n(x.begin(), kIn, 0.0f);
  std::fill_n(x.end() - kIn, kIn, 0.0f);
  const auto memory = backend().allocate(x.size());
  const Rows in{memory.get(), 0, kFrames + 2, kIn, kIn};
  backend().write(in, x);
  for (const size_t stride : {1, 2}) {
    const size_t rows = kFrames / stride;
    std::vector<float> windows;
    for (size_t t = 0; t < rows; ++t) {
      const auto window = std::span(x).subspan(t * stride * kIn, 3 * kIn);
      windows.insert(windows.end(), window.begin(), window.end());
    }
    const std::vector<double> expected = product(flat, windows, type());
    const std::vector<float> added = activations(rows * kOut, 4);
    const TestRows addend(backend(), rows, kOut, added), out(backend(), rows, kOut),
        bare(backend(), rows, kOut);
    backend().convolve(*matrix, in, out.rows, static_cast<int>(stride), &addend.rows);
    backend().convolve(*matrix, in, bare.rows, static_cast<int>(stride), nullptr);
    const std::vector<float> y = out.read(), plain = bare.read();
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_NEAR(plain[i], reference::gelu(expected[i]), tolerance(kIn * 3, expected[i])) << i;
      ASSERT_NEAR(y[i], plain[i] + added[i], type().step(plain[i]) + type().step(plain[i] + added[i])) << i;
    }
    out.expect_surroundings_untouched();
  }
}

TEST_P(LinearTest, Embedding) {
  constexpr size_t kTokens = 101, kWidth = 43;
  const Weights table(kTokens, kWidth);
  const auto matrix = table.pack(backend());
  const std::vector<float> shifts = activations(10 * kWidth, 8);
  const TestRows positions(backend(), 10, kWidth, shifts);
  const DecodeRow rows[] = {{.token = 0, .position = 0},
                            {.token = 100, .position = 9},
                            {.token = 31, .position = 4},
                            {.token = 16, .position = 4},
                            {.token = 100, .position = 1}};
  const TestRows out(backend(), std::size(rows), kWidth);
  backend().embed(*matrix, positions.rows, rows, out.rows);
  const std::vector<float> y = out.read();
  for (size_t i = 0; i < std::size(rows); ++i) {
    const auto token = static_cast<size_t>(rows[i].token), position = static_cast<size_t>(rows[i].position);
    const std::vector<float> row =
        as_weights(std::span(table.values).subspan(token * kWidth, kWidth), type());
    for (size_t k = 0; k < kWidth; ++k) {
      const double sum = row[k] + shifts[position * kWidth + k];
      ASSERT_NEAR(y[i * kWidth + k], sum, 1e-6 + type().step(sum)) << i << ", " << k;
    }
  }
  out.expect_surroundings_untouched();
}

TEST_P(LinearTest, ZerosAndExtremesStayFinite) {
  constexpr size_t kInputs = 33;
  const Weights weights(5, kInputs);
  const auto matrix = weights.pack(backend());
  for (const float value : {0.0f, 1e-38f, 1e30f}) {
    if (!std::isfinite(type().stored(value))) continue;
    const std::vector<float> y = run(backend(), *matrix, std::vector<float>(kInputs, value), 1);
    for (size_t n = 0; n < y.size(); ++n) {
      EXPECT_TRUE(std::isfinite(y[n])) << value;
      if (value > 1e-30f) continue;
      EXPECT_NEAR(y[n], weights.bias[n], 1e-6 + type().step(weights.bias[n]));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LinearTest, testing::ValuesIn(backend_cases(Types::every)), backend_case_name);

TEST(LinearAcrossIsas, Int8GivesTheSameBitsEverywhere) {
  constexpr size_t kRows = 29, kOutputs = 70, kInputs = 301;
  const Weights weights(kOutputs, kInputs);
  const std::vector<float> x = uniform_values(kRows * kInputs, 3);
  std::vector<float> first;
  for (const std::string& isa : cpu_isas()) {
    const auto backend = make_cpu_backend({.compute_type = ComputeType::int8, .threads = 2, .isa = isa});
    const auto matrix = weights.pack(*backend);
    const TestRows in(*backend, kRows, kInputs, x), out(*backend, kRows, kOutputs);
    backend->linear(*matrix, in.rows, out.rows);
    const std::vector<float> y = out.read();
    if (first.empty()) first = y;
    EXPECT_EQ(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)), 0) << isa;
  }
}

}  // namespace
}  // namespace sotto::test
