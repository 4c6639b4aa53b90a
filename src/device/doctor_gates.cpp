#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "device/doctor.h"
#include "tensor/tensor_view.h"

namespace sotto {
namespace {

constexpr size_t kSize = 192;  // inputs and outputs: several tiles of every kernel
constexpr size_t kRows = 37;   // and an odd number of rows

// Three times what the rounding of the type allows for sums of this length.
double matrix_bound(ComputeType type) {
  switch (type) {
    case ComputeType::float32:
      return 1e-5;
    case ComputeType::float16:
      return 3e-3;
    case ComputeType::bfloat16:
      return 2e-2;
    default:
      return 4e-2;  // 8-bit weights
  }
}

std::vector<float> random_values(size_t count, unsigned seed) {
  std::minstd_rand random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 20001) / 10000.0f - 1.0f;
  return values;
}

std::vector<float> product_on(Backend& backend, std::span<const float> weights, std::span<const float> x) {
  const TensorView view{DType::f32, {kSize, kSize}, std::as_bytes(weights), {}, nullptr};
  const Backend::MatrixPart part{&view, nullptr};
  const auto matrix = backend.pack_matrix({&part, 1});
  const auto memory = backend.allocate(2 * kRows * kSize);
  const Rows in{memory.get(), 0, kRows, kSize, kSize}, out{memory.get(), kRows * kSize, kRows, kSize, kSize};
  backend.write(in, x);
  backend.linear(*matrix, in, out);
  std::vector<float> y(kRows * kSize);
  backend.read(out, y);
  return y;
}

double relative_error(std::span<const float> values, std::span<const double> expected) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    difference += (values[i] - expected[i]) * (values[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  const double error = std::sqrt(difference / size);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

}  // namespace

MatrixCheck check_matrix_product(Backend& backend) {
  MatrixCheck check;
  check.bound = matrix_bound(backend.compute_type());
  const std::vector<float> x = random_values(kRows * kSize, 1);

  std::vector<float> identity(kSize * kSize, 0.0f);
  for (size_t i = 0; i < kSize; ++i) identity[i * kSize + i] = 1.0f;
  check.identity_error =
      relative_error(product_on(backend, identity, x), std::vector<double>(x.begin(), x.end()));

  const std::vector<float> weights = random_values(kSize * kSize, 2);
  std::vector<double> expected(kRows * kSize, 0.0);
  for (size_t row = 0; row < kRows; ++row)
    for (size_t out = 0; out < kSize; ++out)
      for (size_t in = 0; in < kSize; ++in)
        expected[row * kSize + out] += double{x[row * kSize + in]} * double{weights[out * kSize + in]};
  check.random_error = relative_error(product_on(backend, weights, x), expected);
  return check;
}

}  // namespace sotto
