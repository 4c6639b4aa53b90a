#include "support/test_backends.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <tuple>

#include <gmock/gmock.h>

#include "backend/cpu/cpu_backend.h"
#include "support/vulkan_test_backends.h"
#include "tensor/dtype.h"

namespace sotto::test {
namespace {

// The CPU keeps activations in float32; caches are halves in all types but float32, and the encoder's
// attention in int8 is fixed-point.
TestType cpu_type(ComputeType type) {
  TestType made{type, Storage::float32, Storage::float32, {}};
  if (type == ComputeType::float32) return made;
  made.bounds.cached = 1e-3;
  made.weights = type == ComputeType::float16    ? Storage::float16
                 : type == ComputeType::bfloat16 ? Storage::bfloat16
                                                 : Storage::int8;
  if (type == ComputeType::int8) {
    made.quantises_rows = true;
    // And the few activations that lie so close between two steps that a different rounding of the factor
    // takes the other one.
    made.bounds.product = 2e-2;
    made.bounds.per_input = 1e-5;
    made.bounds.encoder = 5e-3;
  }
  return made;
}

TestBackend cpu_backend(const std::string& name, const std::string& isa) {
  TestBackend made;
  made.name = name;
  made.description = cpu_isa_for_people(isa);
  const std::vector<std::string> available = cpu_isas();
  if (std::find(available.begin(), available.end(), isa) == available.end())
    made.absent = "this machine has no " + made.description;
  made.device = "cpu";
  made.threads = {1, 2, 3};
  for (const ComputeType type :
       {ComputeType::float32, ComputeType::float16, ComputeType::bfloat16, ComputeType::int8})
    made.types.push_back(cpu_type(type));
  made.open = [isa](ComputeType type, int threads) {
    return make_cpu_backend({.compute_type = type, .threads = threads, .isa = isa});
  };
  return made;
}

std::vector<TestBackend> make_test_backends() {
#if defined(__x86_64__)
  constexpr const char* kIsas[] = {"avx512vnni", "avx512", "avx2", "baseline"};
#else
  constexpr const char* kIsas[] = {"neon_dot", "neon"};
#endif
  std::vector<TestBackend> list;
  for (const char* isa : kIsas) list.push_back(cpu_backend(isa, isa));
  for (TestBackend& backend : list)
    if (backend.name == cpu_isas().front()) backend.whole = true;
  std::ranges::move(gpu_test_backends(), std::back_inserter(list));
  for (TestBackend& backend : vulkan_test_backends()) list.push_back(std::move(backend));
  return list;
}

using Opened = std::map<std::tuple<const TestBackend*, ComputeType, int>, std::unique_ptr<Backend>>;
Opened& opened() {
  static Opened backends;
  return backends;
}

// Drivers should be left while the program is still whole.
class CloseBackends : public testing::Environment {
 public:
  void TearDown() override { opened().clear(); }
};
[[maybe_unused]] const auto* const close_backends = testing::AddGlobalTestEnvironment(new CloseBackends);

}  // namespace

float TestType::stored(float value) const {
  if (memory == Storage::float16) return half_to_float(float_to_half(value));
  if (memory == Storage::bfloat16) return bfloat_to_float(float_to_bfloat(value));
  return value;
}

std::vector<float> TestType::stored(std::vector<float> values) const {
  for (float& value : values) value = stored(value);
  return values;
}

double TestType::step(double value) const {
  constexpr double kSmallestNormalHalf = 6.2e-5;
  return bounds.step * std::max(std::abs(value), kSmallestNormalHalf);
}

const std::vector<TestBackend>& test_backends() {
  static const std::vector<TestBackend> list = make_test_backends();
  return list;
}

std::vector<const TestBackend*> whole_backends() {
  std::vector<const TestBackend*> list;
  for (const TestBackend& backend : test_backends())
    if (backend.whole) list.push_back(&backend);
  return list;
}

BackendCase case_of(const TestBackend& backend, ComputeType wanted) {
  for (const TestType& type : backend.types)
    if (type.type == wanted) return {&backend, type};
  throw std::invalid_argument(backend.name + " has no " + std::string(compute_type_name(wanted)));
}

std::vector<BackendCase> backend_cases(Types types) {
  std::vector<BackendCase> cases;
  for (const TestBackend& backend : test_backends()) {
    std::vector<Storage> seen;
    for (const TestType& type : backend.types) {
      const bool known = std::find(seen.begin(), seen.end(), type.memory) != seen.end();
      if (types == Types::every || !known) cases.push_back({&backend, type});
      seen.push_back(type.memory);
    }
  }
  return cases;
}

std::string backend_case_name(const testing::TestParamInfo<BackendCase>& info) {
  return info.param.backend->name + "_" + std::string(compute_type_name(info.param.type.type));
}

Backend& shared_backend(const BackendCase& on, int threads) {
  auto& backend = opened()[{on.backend, on.type.type, threads}];
  if (backend == nullptr) backend = on.backend->open(on.type.type, threads);
  return *backend;
}

void OnBackend::SetUp() {
  const TestBackend& tested = *GetParam().backend;
  if (!tested.absent.empty()) GTEST_SKIP() << tested.absent;
  ASSERT_THAT(backend().description(), testing::EndsWith(tested.description));
  ASSERT_EQ(backend().compute_type(), type().type);
}

void OnBackend::TearDown() {
  EXPECT_EQ(GetParam().backend->complaints(), "");
}

}  // namespace sotto::test
