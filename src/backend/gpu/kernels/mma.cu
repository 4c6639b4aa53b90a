// Kernels with warp-wide matrix instructions, for NVIDIA chips from sm_80 on.
#include "backend/gpu/kernels/attend_encoder_mma.h"
#include "backend/gpu/kernels/linear_few_mma.h"
#include "backend/gpu/kernels/linear_many_mma.h"

namespace gpu = sotto::gpu;

extern "C" {

#define SOTTO_LINEAR_MANY(type, name)                                                                       \
  __global__ void __launch_bounds__(256) linear_many_mma_##name(const gpu::LinearArgs args) {                \
    extern __shared__ unsigned char shared[];                                                               \
    gpu::mma_linear::run<gpu::type>(args, gpu::shared_address(shared));                                     \
  }
SOTTO_LINEAR_MANY(Half, f16)
SOTTO_LINEAR_MANY(Bfloat, bf16)

#define SOTTO_ATTEND_ENCODER(type, name)                                                                    \
  __global__ void __launch_bounds__(128) attend_encoder_mma_##name(const gpu::EncoderAttentionArgs args) {   \
    extern __shared__ unsigned char shared[];                                                               \
    gpu::attention_mma::run<gpu::type>(args, gpu::shared_address(shared));                                  \
  }
SOTTO_ATTEND_ENCODER(Half, f16)
SOTTO_ATTEND_ENCODER(Bfloat, bf16)

// Named by the warps that share the inputs, the tiles of 16 outputs and the tiles of 8 rows of a block.
#define SOTTO_LINEAR_FEW(type, name, weights, warps, tiles, row_tiles)                                       \
  __global__ void __launch_bounds__(warps * 32, (row_tiles == 1 ? 24 : 16) / warps)                                                             \
      linear_few_mma_##name##_##warps##_##tiles##_##row_tiles(const gpu::LinearArgs args) {                  \
    extern __shared__ unsigned char shared[];                                                               \
    gpu::few_mma::run<gpu::type, gpu::few_mma::weights<gpu::type>, warps, tiles, row_tiles>(                 \
        args, gpu::shared_address(shared));                                                                 \
  }
#define SOTTO_LINEAR_FEW_SHAPES(type, name, weights)  \
  SOTTO_LINEAR_FEW(type, name, weights, 8, 1, 1)      \
  SOTTO_LINEAR_FEW(type, name, weights, 8, 1, 4)      \
  SOTTO_LINEAR_FEW(type, name, weights, 8, 1, 8)      \
  SOTTO_LINEAR_FEW(type, name, weights, 8, 2, 8)      \
  SOTTO_LINEAR_FEW(type, name, weights, 16, 1, 1)     \
  SOTTO_LINEAR_FEW(type, name, weights, 16, 1, 4)     \
  SOTTO_LINEAR_FEW(type, name, weights, 16, 1, 8)
SOTTO_LINEAR_FEW_SHAPES(Half, f16, Weights)
SOTTO_LINEAR_FEW_SHAPES(Bfloat, bf16, Weights)
SOTTO_LINEAR_FEW_SHAPES(Half, i8_f16, Int8Weights)
SOTTO_LINEAR_FEW_SHAPES(Bfloat, i8_bf16, Int8Weights)

}  // extern "C"
