#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/kernels.h"
#include "base/error.h"
#include "platform/cpu_features.h"

namespace sotto::cpu {

#if SOTTO_X86
namespace avx512vnni {
extern const KernelTable table;
}
namespace avx512 {
extern const KernelTable table;
}
namespace avx2 {
extern const KernelTable table;
}
namespace baseline {
extern const KernelTable table;
}
#else
namespace neon_dot {
extern const KernelTable table;
}
namespace neon {
extern const KernelTable table;
}
#endif

namespace {

struct Variant {
  const KernelTable& table;
  bool (*runs_on)(const CpuFeatures& features);
};

// Best first; the last one runs on every machine this was built for.
const Variant kVariants[] = {
#if SOTTO_X86
    {avx512vnni::table, [](const CpuFeatures& features) { return features.avx512_vnni; }},
    {avx512::table, [](const CpuFeatures& features) { return features.avx512; }},
    {avx2::table, [](const CpuFeatures& features) { return features.avx2_fma; }},
    {baseline::table, [](const CpuFeatures&) { return true; }},
#else
    {neon_dot::table, [](const CpuFeatures& features) { return features.neon_dot; }},
    {neon::table, [](const CpuFeatures&) { return true; }},
#endif
};

}  // namespace

const KernelTable& choose_kernels(const char* isa_or_empty) {
  std::string_view isa = isa_or_empty;
  std::string_view source = "the instruction set";
  if (isa.empty()) {
    const char* forced = std::getenv("SOTTO_FORCE_ISA");
    if (forced != nullptr) isa = forced;
    source = "SOTTO_FORCE_ISA";
  }
  for (const Variant& variant : kVariants)
    if (variant.runs_on(cpu_features()) && (isa.empty() || isa == variant.table.isa)) return variant.table;
  throw Error(ErrorCode::unsupported, "{} asks for '{}', which this machine cannot run; it has: {}", source,
              isa, fmt::join(cpu_isas(), ", "));
}

}  // namespace sotto::cpu

namespace sotto {

std::vector<std::string> cpu_isas() {
  std::vector<std::string> names;
  for (const cpu::Variant& variant : cpu::kVariants)
    if (variant.runs_on(cpu_features())) names.emplace_back(variant.table.isa);
  return names;
}

}  // namespace sotto
