#pragma once

// Picks the one header that knows the compiler's vendor. All of them offer the same names.
#if defined(SOTTO_EMULATED_GPU)
#include "vendor/emulated.h"
#elif defined(__HIP__)
#include "vendor/hip.h"
#else
#include "vendor/cuda.h"
#endif
