#pragma once

#include "backend/gpu/driver.h"

namespace sotto::gpu {

std::unique_ptr<Driver> open_cuda(const std::filesystem::path& library, int ordinal);  // cuda_api.cpp
std::unique_ptr<Driver> open_hip(const std::filesystem::path& library, int ordinal);   // hip_api.cpp

}  // namespace sotto::gpu
