#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/backend.h"

// The devices that tests run on, each with the compute types to try and how exact it is in them. What a
// machine lacks is in the list all the same, with the reason, so that its tests are skipped and say why.
namespace sotto::test {

enum class Storage { float32, float16, bfloat16, int8 };

// How far a result may be from the same sums in double precision, over the inputs as they are stored.
struct Bounds {
  double step = 0;            // relative: what writing a value into the activations' memory costs
  double product = 1.6e-5;    // of a matrix product with values up to 1, and
  double per_input = 1e-6;    // for each of its inputs
  double norm = 2e-5;         // relative, of all values together: layer norm,
  double encoder = 3e-6;      // attention inside a window,
  double cached = 3e-6;       // attention over a cache,
  double network = 1e-3;      // states and logits of the whole network, over the largest
  double probability = 1e-3;  // that comes out of the whole network
  double score = 1e-4;        // the average log-probability of a text
};

struct TestType {
  ComputeType type{};
  Storage weights{};
  Storage memory{};  // activations
  Bounds bounds;
  bool quantises_rows = false;  // int8: the rows that meet the weights are quantised too

  // What writing to the activations' memory and reading back makes of a number.
  float stored(float value) const;
  std::vector<float> stored(std::vector<float> values) const;
  double step(double value) const;  // what writing this value may cost
};

struct TestBackend {
  std::string name;          // part of the tests' names
  std::string absent;        // why it cannot be tested here; empty: it can
  std::string description;   // its own words must end with these: the one asked for is the one that runs
  std::string device;        // as the option --device takes it
  std::vector<int> threads;  // numbers of threads whose results must be equal
  std::vector<TestType> types;
  std::vector<MatrixUse> uses{MatrixUse::few_rows};  // those for which it has different kernels
  // Heads of all models have 64 values; a GPU's kernel for a much larger one compiles for long.
  size_t widest_head = 256;
  bool whole = false;  // golden tests run on it, too: it is what users get
  std::function<std::unique_ptr<Backend>(ComputeType type, int threads)> open;
  std::function<std::string()> complaints = [] { return std::string(); };  // of a checking layer, since asked
};

const std::vector<TestBackend>& test_backends();
std::vector<TestBackend> gpu_test_backends();  // gpu_test_backends.cpp: NVIDIA and AMD, each way to compute

// Those for golden tests.
std::vector<const TestBackend*> whole_backends();

struct BackendCase {
  const TestBackend* backend = nullptr;
  TestType type;
};

BackendCase case_of(const TestBackend& backend, ComputeType type);  // of one that it has

enum class Types { every, one_per_memory };  // the latter for operations that meet no weights
std::vector<BackendCase> backend_cases(Types types);
std::string backend_case_name(const testing::TestParamInfo<BackendCase>& info);  // "avx2_float16"

// A backend that lives until the end of the program: opening a GPU takes longer than most tests.
Backend& shared_backend(const BackendCase& on, int threads);

// A test that runs on every backend and compute type.
class OnBackend : public testing::TestWithParam<BackendCase> {
 protected:
  void SetUp() override;
  void TearDown() override;

  const TestType& type() const { return GetParam().type; }
  const Bounds& bounds() const { return GetParam().type.bounds; }
  const std::vector<int>& thread_counts() const { return GetParam().backend->threads; }
  Backend& backend() const { return shared_backend(GetParam(), 2); }
  Backend& backend(int threads) const { return shared_backend(GetParam(), threads); }
};

}  // namespace sotto::test
