#pragma once

// Picks the one header that knows the compiler's vendor. All of them offer the same names.
#if defined(SOTTO_EMULATED_GPU)
#include "backend/gpu/kernels/vendor/emulated.h"
#elif defined(__HIP__)
#include "backend/gpu/kernels/vendor/hip.h"
#else
#include "backend/gpu/kernels/vendor/cuda.h"
#endif
