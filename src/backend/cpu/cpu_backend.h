#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace sotto {

struct CpuOptions {
  ComputeType compute_type = ComputeType::automatic;  // int8
  int threads = 0;                                    // 0: the physical cores
  std::string isa;                                    // empty: the best one, or SOTTO_FORCE_ISA
};

// Throws Error(unsupported) for a forced instruction set that this machine lacks, or a compute type the CPU
// has not; the message lists those it has.
std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options);

// "avx512vnni", "avx512", "avx2", "baseline" ("neon" on ARM): those compiled in that this machine can run,
// best first.
std::vector<std::string> cpu_isas();
std::string_view cpu_isa_for_people(std::string_view isa) noexcept;  // "AVX-512 VNNI"

}  // namespace sotto
