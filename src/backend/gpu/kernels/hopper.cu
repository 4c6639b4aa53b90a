// Kernels for Hopper alone (sm_90a).
#include "backend/gpu/kernels/attend_encoder_wgmma.h"
#include "backend/gpu/kernels/linear_many_wgmma.h"

#define SOTTO_WGMMA_LINEAR(columns, type, name)                                                                \
  extern "C" __global__ void __launch_bounds__(384, 1)                                                         \
      linear_many_wgmma_##columns##_##name(const __grid_constant__ sotto::gpu::WgmmaLinearArgs args) {         \
    extern __shared__ unsigned char shared[];                                                                  \
    sotto::gpu::wgmma_linear::run<columns, sotto::gpu::type>(args, sotto::gpu::shared_address(shared));         \
  }

SOTTO_WGMMA_LINEAR(128, Half, f16)
SOTTO_WGMMA_LINEAR(256, Half, f16)
SOTTO_WGMMA_LINEAR(128, Bfloat, bf16)
SOTTO_WGMMA_LINEAR(256, Bfloat, bf16)

#define SOTTO_WGMMA_ATTENTION(type, name)                                                                      \
  extern "C" __global__ void __launch_bounds__(512, 1)                                                         \
      attend_encoder_wgmma_##name(const __grid_constant__ sotto::gpu::WgmmaAttentionArgs args) {               \
    extern __shared__ unsigned char shared[];                                                                  \
    sotto::gpu::attention_wgmma::run<sotto::gpu::type>(args, sotto::gpu::shared_address(shared));               \
  }

SOTTO_WGMMA_ATTENTION(Half, f16)
SOTTO_WGMMA_ATTENTION(Bfloat, bf16)
