#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "backend/backend.h"
#include "backend/gpu/driver.h"
#include "backend/gpu/images.h"

namespace sotto {

struct GpuOptions {
  gpu::Vendor vendor = gpu::Vendor::nvidia;
  std::filesystem::path library;                      // the driver's
  int ordinal = 0;                                    // as the driver counts
  ComputeType compute_type = ComputeType::automatic;  // float16
  std::string path;  // "simt", "mma", "wgmma"; empty: SOTTO_GPU_PATH, or the best
};

// Throws Error(device) where the driver refuses, Error(unsupported) for a compute type or a path that the
// chip lacks or that this build holds no kernels for.
std::unique_ptr<Backend> make_gpu_backend(const GpuOptions& options);

}  // namespace sotto
