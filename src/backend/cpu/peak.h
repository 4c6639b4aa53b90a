#pragma once

#include <string>

namespace sotto {

// The ceilings of this machine, measured: what its units and its memory give to loops that do nothing else.
struct CpuPeaks {
  double float_operations_per_second = 0;  // a multiply-add counts as two
  double int8_operations_per_second = 0;
  double read_bytes_per_second = 0;  // from memory far larger than the caches
};

// Takes about a third of a second. isa: as in CpuOptions.
CpuPeaks measure_cpu_peaks(int threads, const std::string& isa = {});

}  // namespace sotto
