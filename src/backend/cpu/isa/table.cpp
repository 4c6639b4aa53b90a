// Joins the kernels of one instruction set. The parts are referred to, not copied: no code of this
// instruction set runs before it was chosen.
#include "backend/cpu/kernels.h"

#define SOTTO_ISA_TEXT_OF(name) #name
#define SOTTO_ISA_TEXT(name) SOTTO_ISA_TEXT_OF(name)

namespace sotto::cpu::SOTTO_ISA {

extern const MatrixKernels matrix_kernels;
extern const RowKernels row_kernels;
extern const AttentionKernels attention_kernels;
extern const PeakKernels peak_kernels;

extern const KernelTable table;
const KernelTable table = {SOTTO_ISA_TEXT(SOTTO_ISA), matrix_kernels, row_kernels, attention_kernels,
                           peak_kernels};

}  // namespace sotto::cpu::SOTTO_ISA
