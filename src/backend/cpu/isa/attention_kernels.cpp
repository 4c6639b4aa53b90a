#include "backend/cpu/attention_kernels.h"

#include "backend/cpu/isa/cached_attention.h"
#include "backend/cpu/isa/encoder_attention.h"
#include "backend/cpu/isa/fixed_attention.h"

namespace sotto::cpu::SOTTO_ISA {

extern const AttentionKernels attention_kernels;
constinit const AttentionKernels attention_kernels = {
    encoder_attention<FloatMath>(),
#if defined(__AVX512VNNI__)
    encoder_attention<FixedMath>(),
#else
    {},
#endif
    cached_attention<float>(),
    cached_attention<uint16_t>(),
};

}  // namespace sotto::cpu::SOTTO_ISA
