#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/peak.h"
#include "base/error.h"
#include "platform/cpu_features.h"

namespace sotto {
namespace {

// Sets SOTTO_FORCE_ISA for one test and puts back what the caller of the tests had chosen.
class ForcedIsa {
 public:
  explicit ForcedIsa(const char* value) {
    if (const char* before = std::getenv(kName)) before_ = before;
    set(value);
  }
  ~ForcedIsa() { set(before_.empty() ? nullptr : before_.c_str()); }

 private:
  static constexpr const char* kName = "SOTTO_FORCE_ISA";
  static void set(const char* value) { value == nullptr ? unsetenv(kName) : setenv(kName, value, 1); }
  std::string before_;
};

template <class Work>
Error error_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::internal, "no error"};
}

TEST(Isa, ListsWhatThisMachineCanRunBestFirst) {
  const std::vector<std::string> names = cpu_isas();
  ASSERT_FALSE(names.empty());
#if defined(__x86_64__)
  EXPECT_EQ(names.back(), "baseline");
  EXPECT_EQ(names.front() == "avx512vnni", cpu_features().avx512_vnni);
#else
  EXPECT_EQ(names.back(), "neon");
#endif
}

TEST(Isa, EveryListedNameCanBeForced) {
  for (const std::string& name : cpu_isas()) {
    EXPECT_EQ(cpu::choose_kernels(name.c_str()).isa, name);
    const ForcedIsa forced(name.c_str());
    EXPECT_EQ(cpu::choose_kernels("").isa, name);
  }
}

TEST(Isa, TheBestIsTheDefault) {
  const ForcedIsa nothing(nullptr);
  EXPECT_EQ(cpu::choose_kernels("").isa, cpu_isas().front());
}

TEST(Isa, AnArgumentWinsOverTheEnvironment) {
  const ForcedIsa forced("nonsense");
  EXPECT_EQ(cpu::choose_kernels(cpu_isas().back().c_str()).isa, cpu_isas().back());
}

TEST(Isa, AnUnknownNameIsAnErrorThatListsTheOthers) {
  const Error error = error_of([] { make_cpu_backend({.isa = "avx1024"}); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_THAT(error.what(), testing::HasSubstr("avx1024"));
  EXPECT_THAT(error.what(), testing::HasSubstr(cpu_isas().back()));

  const ForcedIsa forced("avx1024");
  EXPECT_THAT(error_of([] { make_cpu_backend({}); }).what(), testing::HasSubstr("SOTTO_FORCE_ISA"));
}

TEST(CpuBackend, SaysWhatItIs) {
  const auto backend = make_cpu_backend({.threads = 3, .isa = cpu_isas().back()});
  EXPECT_THAT(backend->description(), testing::StartsWith("CPU, 3 threads, "));
  EXPECT_EQ(backend->compute_type(), ComputeType::int8);
}

TEST(CpuBackend, ResolvesComputeTypes) {
  const auto resolved = [](ComputeType type) {
    return make_cpu_backend({.compute_type = type})->compute_type();
  };
  EXPECT_EQ(resolved(ComputeType::automatic), ComputeType::int8);
  EXPECT_EQ(resolved(ComputeType::int8_float32), ComputeType::int8);
  EXPECT_EQ(resolved(ComputeType::float32), ComputeType::float32);
  EXPECT_EQ(resolved(ComputeType::float16), ComputeType::float16);
  EXPECT_EQ(resolved(ComputeType::bfloat16), ComputeType::bfloat16);
  const Error error = error_of([&] { resolved(ComputeType::int8_float16); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_THAT(error.what(), testing::HasSubstr("bfloat16"));
}

TEST(CpuBackend, RefusesAbsurdThreadCounts) {
  EXPECT_EQ(error_of([] { make_cpu_backend({.threads = -1}); }).code(), ErrorCode::usage);
  EXPECT_EQ(error_of([] { make_cpu_backend({.threads = 1'000'000}); }).code(), ErrorCode::usage);
}

TEST(CpuBackend, DefaultsToThePhysicalCores) {
  EXPECT_GE(cpu_features().physical_cores, 1);
  EXPECT_FALSE(cpu_features().name.empty());
  const std::string threads = std::to_string(cpu_features().physical_cores) + " thread";
  EXPECT_THAT(make_cpu_backend({})->description(), testing::HasSubstr(threads));
}

// The reference of every ceiling: its kernels must run on each instruction set.
TEST(PeakKernels, CountSomething) {
  for (const std::string& name : cpu_isas()) {
    const cpu::PeakKernels& kernels = cpu::choose_kernels(name.c_str()).peak;
    // Each sum tends to 2 under x = 0.5 x + 1.
    EXPECT_NEAR(kernels.multiply_add(100), static_cast<float>(kernels.float_operations), 1e-2f) << name;
    EXPECT_EQ(kernels.multiply_add_int8(10), 12 * 10 * (1 - 1 + 2 - 2)) << name;
    const std::vector<int32_t> ones(2048, 1);
    EXPECT_EQ(kernels.read(ones.data(), ones.size()), 2048) << name;
  }
}

}  // namespace
}  // namespace sotto
