#include "fault/emulated/kernels.h"

#include "backend/gpu/kernels/simt.h"

namespace sotto::gpu::emulated {
namespace {

template <auto function, class Args, unsigned threads>
void run(const Grid& grid, const void* arguments) {
  const Args& args = *static_cast<const Args*>(arguments);
  run_grid(grid, static_cast<int>(threads), [&] { function(args); });
}

#define WAITING_KERNEL(name, function, Args, threads, blocks) KERNEL(name, function, Args, threads, blocks)
#define PREPARED_KERNEL(name, prepare, function, Args, threads, blocks) \
  KERNEL(name, function, Args, threads, blocks)
#define KERNEL(name, function, Args, threads, blocks) \
  {#name, threads, sizeof(Args), run<(function), Args, threads>},
constexpr Kernel kKernels[] = {
#include "backend/gpu/kernels/simt_kernels.inc"
};

}  // namespace

const Kernel* find_kernel(std::string_view name) {
  for (const Kernel& kernel : kKernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace sotto::gpu::emulated
