#include "backend/gpu/gpu_backend.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "backend/gpu/gpu_types.h"
#include "base/error.h"
#include "platform/cpu_features.h"

namespace sotto {
namespace gpu {
namespace {

Element element_of(ComputeType type) {
  switch (type) {
    case ComputeType::bfloat16:
      return Element::bf16;
    case ComputeType::float32:
    case ComputeType::int8_float32:
      return Element::f32;
    default:
      return Element::f16;
  }
}

bool has_int8_weights(ComputeType type) {
  return type == ComputeType::int8 || type == ComputeType::int8_float16 || type == ComputeType::int8_float32;
}

// More threads would wait for the memory that they all read.
int packing_threads() {
  constexpr int kMost = 8;
  return std::clamp(cpu_features().physical_cores, 1, kMost);
}

// Tensor cores take 16-bit operands only; what is forced must be there.
Path choose_path(const Context& context, Element element, const std::string& forced) {
  if (!forced.empty()) {
    const auto path = path_from_name(forced);
    if (!path)
      throw Error(ErrorCode::usage, "there is no way to compute named '{}'; there are simt, mma and wgmma",
                  forced);
    if (context.image(*path) == nullptr)
      throw Error(ErrorCode::unsupported, "{} ({}) has no {} kernels in this build", context.facts().name,
                  context.facts().architecture, forced);
    return element == Element::f32 ? Path::simt : *path;
  }
  if (element == Element::f32) return Path::simt;
  for (const Path path : {Path::wgmma, Path::mma})
    if (context.image(path) != nullptr) return path;
  return Path::simt;
}

std::string forced_path(const GpuOptions& options) {
  if (!options.path.empty()) return options.path;
  const char* variable = std::getenv("SOTTO_GPU_PATH");
  return variable == nullptr ? "" : variable;
}

}  // namespace

GpuBackend::Kernels::Kernels(Context& context, Element element) {
  const Entered scope(context);
  const auto find = [&](const char* base) {
    return context.kernel(Path::simt, fmt::format("{}_{}", base, element_name(element)));
  };
  pack = find("pack");
  pack_int8 = context.kernel(Path::simt, "pack_i8");
  dequantize = find("dequantize");
  write = find("write");
  read = find("read");
  layer_norm = find("layer_norm");
  layer_norm_few = find("layer_norm_few");
  embed = find("embed");
  embed_int8 = find("embed_i8");
  linear_many = find("linear_many_simt");
  linear_few = find("linear_few_simt");
  linear_few_int8 = find("linear_few_simt_i8");
  attend_encoder = find("attend_encoder_simt");
  attend_self = find("attend_self");
  attend_cross = find("attend_cross");
  cross_weights = find("cross_weights");
  copy_rows = find("copy_rows");
  copy_slot = find("copy_slot");
  sample = context.kernel(Path::simt, "sample");
  mel_frames = context.kernel(Path::simt, "mel_frames");
  mel_scale = find("mel_scale");
}

GpuBackend::GpuBackend(std::shared_ptr<Context> context, ComputeType compute_type, Path path)
    : context_(std::move(context)),
      compute_type_(compute_type),
      element_(element_of(compute_type)),
      int8_(has_int8_weights(compute_type)),
      path_(path),
      queue_(context_),
      staging_(context_, Queue::staging_bytes()),
      pool_(packing_threads()),
      kernels_(*context_, element_) {
  if (path != Path::simt) tensor_cores_.emplace(*context_, path, element_);
}

std::string GpuBackend::description() const {
  const char* how = path_ == Path::simt ? "plain kernels" : "tensor cores";
  return fmt::format("{} ({}), {}", context_->facts().name, context_->facts().architecture, how);
}

// What fills a large chip also takes the most memory: some 40 MiB for each window of the largest model.
int GpuBackend::windows_to_encode_together() const {
  constexpr size_t kMost = 32, kMemoryEach = size_t{256} << 20;
  const Entered scope(*context_);
  return static_cast<int>(std::clamp(context_->free_memory() / kMemoryEach, size_t{1}, kMost));
}

std::optional<Backend::Room> GpuBackend::room() const {
  const Entered scope(*context_);
  return Room{context_->free_memory(), int8_ ? 1 : element_bytes(element_), element_bytes(element_)};
}

}  // namespace gpu

std::unique_ptr<Backend> make_gpu_backend(const GpuOptions& options) {
  const ComputeType type =
      options.compute_type == ComputeType::automatic ? ComputeType::float16 : options.compute_type;
  auto context = gpu::Context::open(options.vendor, options.library, options.ordinal);
  if (type == ComputeType::bfloat16 && options.vendor == gpu::Vendor::nvidia &&
      context->facts().capability < 80)
    throw Error(ErrorCode::unsupported, "{} ({}) cannot compute in bfloat16", context->facts().name,
                context->facts().architecture);
  const gpu::Path path = gpu::choose_path(*context, gpu::element_of(type), gpu::forced_path(options));
  return std::make_unique<gpu::GpuBackend>(std::move(context), type, path);
}

}  // namespace sotto
