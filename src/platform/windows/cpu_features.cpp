#include "platform/cpu_features.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <cpuid.h>

#include "platform/windows/wide_text.h"

namespace sotto {
namespace {

bool bit(uint32_t word, int index) {
  return ((word >> index) & 1) != 0;
}

uint64_t read_xcr0() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

void detect_instructions(CpuFeatures& features) {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0) return;
  const bool os_saves_state = bit(ecx, 27), avx = bit(ecx, 28), fma = bit(ecx, 12), f16c = bit(ecx, 29);
  if (!os_saves_state || !avx) return;
  const uint64_t kept = read_xcr0();
  const bool keeps_ymm = (kept & 0x06) == 0x06, keeps_zmm = (kept & 0xe6) == 0xe6;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return;
  features.avx2_fma = keeps_ymm && bit(ebx, 5) && fma && f16c;
  features.avx512 =
      features.avx2_fma && keeps_zmm && bit(ebx, 16) && bit(ebx, 17) && bit(ebx, 30) && bit(ebx, 31);
  features.avx512_vnni = features.avx512 && bit(ecx, 11);
  if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0)
    features.avx512_bf16 = features.avx512 && bit(eax, 5);
}

std::string processor_name() {
  uint32_t words[12] = {};
  for (uint32_t leaf = 0; leaf < 3; ++leaf) {
    uint32_t* part = words + leaf * 4;
    if (__get_cpuid(0x80000002u + leaf, &part[0], &part[1], &part[2], &part[3]) == 0)
      return "x86-64 processor";
  }
  char text[sizeof words + 1] = {};
  std::memcpy(text, words, sizeof words);
  std::string name(text);
  name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
  name.erase(name.find_last_not_of(' ') + 1);
  return name;
}

// Cores with at least one processor that this process may use; systems of more than 64 are split into groups,
// of which a process starts in one.
int count_physical_cores() {
  DWORD_PTR allowed = 0, present = 0;
  DWORD bytes = 0;
  GetProcessAffinityMask(GetCurrentProcess(), &allowed, &present);
  GetLogicalProcessorInformation(nullptr, &bytes);
  std::vector<SYSTEM_LOGICAL_PROCESSOR_INFORMATION> entries(bytes /
                                                            sizeof(SYSTEM_LOGICAL_PROCESSOR_INFORMATION));
  if (entries.empty() || GetLogicalProcessorInformation(entries.data(), &bytes) == 0)
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const auto cores = std::count_if(entries.begin(), entries.end(), [&](const auto& entry) {
    return entry.Relationship == RelationProcessorCore && (entry.ProcessorMask & allowed) != 0;
  });
  return std::max(1, static_cast<int>(cores));
}

CpuFeatures detect() {
  CpuFeatures features;
  detect_instructions(features);
  features.physical_cores = count_physical_cores();
  features.name = processor_name();
  return features;
}

}  // namespace

const CpuFeatures& cpu_features() {
  static const CpuFeatures features = detect();
  return features;
}

}  // namespace sotto
