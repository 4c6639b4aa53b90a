#include "backend/gpu/kernels/simt.h"

using namespace sotto::gpu;

#define WAITING_KERNEL(name, function, Args, threads, blocks)                           \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const Args args) { \
    (function)(args);                                                                   \
  }
#define PREPARED_KERNEL(name, prepare, function, Args, threads, blocks)                 \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const Args args) { \
    (prepare)(args);                                                                    \
    wait_for_previous_kernel();                                                         \
    let_next_kernel_begin();                                                            \
    (function)(args);                                                                   \
  }
#define KERNEL(name, function, Args, threads, blocks)                                   \
  extern "C" __global__ void __launch_bounds__(threads, blocks) name(const Args args) { \
    wait_for_previous_kernel();                                                         \
    let_next_kernel_begin();                                                            \
    (function)(args);                                                                   \
  }
#include "backend/gpu/kernels/simt_kernels.inc"
