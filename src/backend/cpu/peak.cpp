#include "backend/cpu/peak.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "backend/cpu/cpu_types.h"
#include "backend/cpu/kernels.h"
#include "base/thread_pool.h"

namespace sotto {
namespace {

constexpr int kRepetitions = 20;  // short ones: the best of them met the fewest interruptions
constexpr size_t kReadBytes = size_t{160} << 20;
constexpr size_t kReadPiece = size_t{1} << 20;
constexpr size_t kRounds = 60'000;

// The best of several runs: a ceiling is what the machine can do when nothing else disturbs it.
template <class Body>
double best_seconds(ThreadPool& pool, size_t tasks, Body body) {
  double best = 1e30;
  for (int repetition = 0; repetition < kRepetitions; ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    pool.parallel_for(tasks, body);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

CpuPeaks measure_cpu_peaks(int threads, const std::string& isa) {
  const cpu::PeakKernels& kernels = cpu::choose_kernels(isa.c_str()).peak;
  ThreadPool pool(threads);
  const auto tasks =
      static_cast<size_t>(pool.size()) * 8;  // several per thread, so that a late one can be helped
  std::atomic<int64_t> result{0};            // keeps the work from being optimised away
  CpuPeaks peaks;
  const double float_seconds = best_seconds(
      pool, tasks, [&](size_t) { result += static_cast<int64_t>(kernels.multiply_add(kRounds)); });
  peaks.float_operations_per_second =
      static_cast<double>(tasks * kRounds * kernels.float_operations) / float_seconds;
  const double int8_seconds =
      best_seconds(pool, tasks, [&](size_t) { result += kernels.multiply_add_int8(kRounds); });
  peaks.int8_operations_per_second =
      static_cast<double>(tasks * kRounds * kernels.int8_operations) / int8_seconds;

  const cpu::AlignedBytes memory(kReadBytes);
  std::fill_n(memory.as<int32_t>(), kReadBytes / sizeof(int32_t),
              1);  // untouched pages would all be one page of zeros
  const double read_seconds = best_seconds(pool, kReadBytes / kReadPiece, [&](size_t piece) {
    const size_t count = kReadPiece / sizeof(int32_t);
    result += kernels.read(memory.as<int32_t>() + piece * count, count);
  });
  peaks.read_bytes_per_second = static_cast<double>(kReadBytes) / read_seconds;
  return peaks;
}

}  // namespace sotto
