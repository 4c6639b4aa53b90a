#include "backend/cpu/cpu_backend.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "backend/cpu/cpu_types.h"
#include "base/error.h"
#include "platform/cpu_features.h"

namespace sotto {
namespace {

constexpr int kMostThreads = 1024;

ComputeType resolve_compute_type(ComputeType type) {
  switch (type) {
    case ComputeType::automatic:
    case ComputeType::int8:
    case ComputeType::int8_float32:
      return ComputeType::int8;
    case ComputeType::float32:
    case ComputeType::float16:
    case ComputeType::bfloat16:
      return type;
    case ComputeType::int8_float16:
      break;
  }
  throw Error(ErrorCode::unsupported,
              "The CPU cannot compute in {}; it has: float32, float16, bfloat16, int8, int8_float32",
              compute_type_name(type));
}

}  // namespace

namespace cpu {

CpuBackend::CpuBackend(const KernelTable& kernels, ComputeType compute_type, int threads)
    : kernels_(kernels), compute_type_(compute_type), pool_(threads) {}

std::string CpuBackend::description() const {
  const int threads = pool_.size();
  return fmt::format("CPU, {} thread{}, {}", threads, threads == 1 ? "" : "s",
                     cpu_isa_for_people(kernels_.isa));
}

}  // namespace cpu

std::string_view cpu_isa_for_people(std::string_view isa) noexcept {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"avx512vnni", "AVX-512 VNNI"},   {"avx512", "AVX-512"}, {"avx2", "AVX2"}, {"baseline", "SSE2"},
      {"neon_dot", "NEON dot product"}, {"neon", "NEON"}};
  for (const auto& [name, text] : kNames)
    if (name == isa) return text;
  return isa;
}

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options) {
  if (options.threads < 0 || options.threads > kMostThreads)
    throw Error(ErrorCode::usage, "The number of threads must be between 0 (automatic) and {}, not {}",
                kMostThreads, options.threads);
  const ComputeType type = resolve_compute_type(options.compute_type);
  const cpu::KernelTable& kernels = cpu::choose_kernels(options.isa.c_str());
  const int threads = options.threads > 0 ? options.threads : cpu_features().physical_cores;
  return std::make_unique<cpu::CpuBackend>(kernels, type, threads);
}

}  // namespace sotto
