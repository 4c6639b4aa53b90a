#pragma once

#include "backend/cpu/attention_kernels.h"
#include "backend/cpu/matrix_kernels.h"
#include "backend/cpu/peak_kernels.h"
#include "backend/cpu/row_kernels.h"

namespace sotto::cpu {

// The kernels of one instruction set: plain functions on plain memory, built from the sources in isa/. Each
// source defines its own part as `extern const RowKernels row_kernels` (and so on) in the namespace of the
// instruction set.
struct KernelTable {
  const char* isa;
  const MatrixKernels& matrix;
  const RowKernels& rows;
  const AttentionKernels& attention;
  const PeakKernels& peak;
};

// The best table this machine can run, or the one asked for by name or, where the name is empty, by
// SOTTO_FORCE_ISA. An unknown or unsupported name throws Error(unsupported).
const KernelTable& choose_kernels(const char* isa_or_empty);

}  // namespace sotto::cpu
