#pragma once

#include <string>

namespace sotto {

// What the processor offers and the operating system keeps across context switches.
struct CpuFeatures {
  bool avx2_fma = false;     // AVX2, FMA and F16C
  bool avx512 = false;       // F, BW, DQ, VL
  bool avx512_vnni = false;  // and VNNI
  bool avx512_bf16 = false;
  bool neon_dot = false;   // ARM: NEON with the dot-product instructions
  int physical_cores = 1;  // those that this process may use
  std::string name;        // the vendor's own words, for people
};

const CpuFeatures& cpu_features();

}  // namespace sotto
