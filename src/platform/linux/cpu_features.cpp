#include "platform/cpu_features.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace sotto {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The processors that the scheduler lets this process use.
std::vector<int> allowed_processors() {
  const long configured = sysconf(_SC_NPROCESSORS_CONF);
  const int count = std::max<int>(static_cast<int>(configured), CPU_SETSIZE);
  const size_t bytes = CPU_ALLOC_SIZE(count);
  cpu_set_t* set = CPU_ALLOC(count);
  std::vector<int> processors;
  if (set != nullptr && sched_getaffinity(0, bytes, set) == 0)
    for (int cpu = 0; cpu < count; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set)) processors.push_back(cpu);
  if (set != nullptr) CPU_FREE(set);
  return processors;
}

// Whole processors that the control groups grant, rounded up; a large number where there is no limit.
int quota_processors() {
  constexpr int kNoLimit = 1 << 20;
  double quota = 0, period = 0;
  // "max 100000" or "200000 100000": version 2; inside a container its own group is the root of the mount.
  const std::string limit = first_line("/sys/fs/cgroup/cpu.max");
  if (std::sscanf(limit.c_str(), "%lf %lf", &quota, &period) != 2) {
    const std::string v1_quota = first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    const std::string v1_period = first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    if (std::sscanf(v1_quota.c_str(), "%lf", &quota) != 1 ||
        std::sscanf(v1_period.c_str(), "%lf", &period) != 1)
      return kNoLimit;
  }
  if (quota <= 0 || period <= 0) return kNoLimit;
  return static_cast<int>(std::min<double>(kNoLimit, (quota + period - 1) / period));
}

// Two hardware threads of one core list the same siblings.
int count_physical_cores() {
  const std::vector<int> processors = allowed_processors();
  std::set<std::string> cores;
  for (const int cpu : processors) {
    const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    std::string siblings = first_line(topology + "thread_siblings_list");
    cores.insert(siblings.empty() ? "cpu" + std::to_string(cpu) : std::move(siblings));
  }
  const int cores_found =
      cores.empty() ? static_cast<int>(std::thread::hardware_concurrency()) : static_cast<int>(cores.size());
  return std::max(1, std::min(cores_found, quota_processors()));
}

#if defined(__x86_64__)

uint64_t read_xcr0() {
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

bool bit(uint32_t word, int index) {
  return ((word >> index) & 1) != 0;
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

#elif defined(__aarch64__)

void detect_instructions(CpuFeatures& features) {
  features.neon_dot = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}

std::string processor_name() {
  const std::string model = first_line("/sys/firmware/devicetree/base/model");
  return model.empty() ? "ARM64 processor"
                       : std::string(model.c_str());  // without the file's final zero byte
}

#else

void detect_instructions(CpuFeatures&) {}

std::string processor_name() {
  return "processor";
}

#endif

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
