// The sizes of panels and tiles, shared by the kernels that pack them and those that multiply them. Included
// like vec.h.
#pragma once

#include "backend/cpu/isa/vec.h"

namespace sotto::cpu::SOTTO_ISA {

inline constexpr int kPanelVecs = 2;
inline constexpr int kPanel = kPanelVecs * kLanes;

// As many rows as the registers can hold sums for, next to a panel's weights and one activation.
#if defined(__AVX512F__) || defined(__ARM_NEON)
inline constexpr int kFloatRows = 12, kInt8Rows = 12;
#else
inline constexpr int kFloatRows = 6, kInt8Rows = 4;
#endif

}  // namespace sotto::cpu::SOTTO_ISA
