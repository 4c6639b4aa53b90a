#pragma once

// All plain kernels.
#include "backend/gpu/kernels/attend_cached.h"
#include "backend/gpu/kernels/attend_encoder_simt.h"
#include "backend/gpu/kernels/layer_norm.h"
#include "backend/gpu/kernels/linear_few_simt.h"
#include "backend/gpu/kernels/linear_many_simt.h"
#include "backend/gpu/kernels/mel.h"
#include "backend/gpu/kernels/move.h"
#include "backend/gpu/kernels/prefetch.h"
#include "backend/gpu/kernels/sample.h"
