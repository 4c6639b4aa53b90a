#include <fmt/format.h>

#include "backend/gpu/gpu_backend.h"
#include "base/error.h"
#include "device/driver_files.h"
#include "support/test_backends.h"

namespace sotto::test {
namespace {

// Activations in memory cost the rounding of their type each time they are written; sums are float32.
TestType gpu_type(ComputeType type, bool tensor_cores) {
  TestType made{type, Storage::float32, Storage::float32, {}};
  Bounds& bounds = made.bounds;
  bounds.cached = bounds.encoder = 1e-5;
  const bool int8 =
      type == ComputeType::int8 || type == ComputeType::int8_float16 || type == ComputeType::int8_float32;
  if (type == ComputeType::float16 || type == ComputeType::int8 || type == ComputeType::int8_float16) {
    made.weights = made.memory = Storage::float16;
    bounds.step = 0x1p-11;
    bounds.norm = 4e-4;
    bounds.cached = bounds.encoder = tensor_cores ? 1e-3 : 5e-4;
    bounds.network = bounds.probability = bounds.score = 1e-2;
  }
  if (type == ComputeType::bfloat16) {
    made.weights = made.memory = Storage::bfloat16;
    bounds.step = 0x1p-8;
    bounds.norm = 3e-3;
    bounds.cached = bounds.encoder = tensor_cores ? 8e-3 : 4e-3;
    bounds.network = bounds.probability = bounds.score = 8e-2;
  }
  if (int8) {
    made.weights = Storage::int8;
    // Many rows meet weights that were rounded once more, to the activations' type: of uniform values up to 1
    // each product is off by 5e-5 on average, a sum of 1536 by 2e-3, and the worst of ten thousand by four
    // times that.
    bounds.product = 1e-2;
    bounds.network = bounds.probability = 1e-1;
  }
  return made;
}

std::string why_absent(const GpuOptions& options) {
  if (options.library.empty()) return "no driver library is installed";
  try {
    make_gpu_backend(options);
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TestBackend gpu_backend(gpu::Vendor vendor, gpu::Path path, const std::filesystem::path& library) {
  const bool nvidia = vendor == gpu::Vendor::nvidia, plain = path == gpu::Path::simt;
  const GpuOptions options{vendor, library, 0, ComputeType::float16, std::string(gpu::path_name(path))};
  TestBackend made;
  made.name = fmt::format("{}_{}", nvidia ? "cuda" : "rocm", gpu::path_name(path));
  made.absent = why_absent(options);
  made.description = plain ? "plain kernels" : "tensor cores";
  made.device = nvidia ? "cuda" : "rocm";
  made.threads = {2};
  made.widest_head = 128;
  made.uses = {MatrixUse::few_rows, MatrixUse::many_rows};
  made.whole = true;
  std::vector<ComputeType> types{ComputeType::float16, ComputeType::bfloat16, ComputeType::int8};
  if (plain) types.insert(types.end(), {ComputeType::float32, ComputeType::int8_float32});
  for (const ComputeType type : types) {
    GpuOptions with_type = options;
    with_type.compute_type = type;
    if (!made.absent.empty() || why_absent(with_type).empty()) made.types.push_back(gpu_type(type, !plain));
  }
  made.open = [options](ComputeType type, int) {
    GpuOptions with_type = options;
    with_type.compute_type = type;
    return make_gpu_backend(with_type);
  };
  return made;
}

std::filesystem::path first_driver(DeviceKind kind) {
  const auto files = driver_files(kind);
  return files.empty() ? std::filesystem::path() : files.front();
}

}  // namespace

std::vector<TestBackend> gpu_test_backends() {
  const std::filesystem::path cuda = first_driver(DeviceKind::cuda), rocm = first_driver(DeviceKind::rocm);
  return {gpu_backend(gpu::Vendor::nvidia, gpu::Path::simt, cuda),
          gpu_backend(gpu::Vendor::nvidia, gpu::Path::mma, cuda),
          gpu_backend(gpu::Vendor::nvidia, gpu::Path::wgmma, cuda),
          gpu_backend(gpu::Vendor::amd, gpu::Path::simt, rocm)};
}

}  // namespace sotto::test
