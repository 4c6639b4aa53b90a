#include "backend/vulkan/peak.h"

#include <chrono>
#include <limits>

#include "backend/vulkan/vulkan_types.h"

namespace sotto {
namespace {

using namespace vk;
using Clock = std::chrono::steady_clock;

// The best of several runs, each long enough to be measured.
template <class Issue>
double best_seconds(Stream& stream, Issue issue) {
  constexpr int kRuns = 8;
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run <= kRuns; ++run) {  // the first one compiles
    stream.finish();
    const auto begin = Clock::now();
    issue();
    stream.finish();
    if (run > 0) best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

double multiply_add_rate(Context& context, const View& memory, bool software) {
  constexpr uint32_t kChains = 16, kUnrolled = 4;  // as in the kernel
  const uint32_t local = 64, groups = software ? 256 : 4096, rounds = software ? 8000 : 500;
  const Pipeline& pipeline = context.pipelines.get("peak_multiply_add", {local});
  const double operations = 2.0 * kChains * kUnrolled * rounds * local * groups;
  return operations / best_seconds(context.stream, [&] {
           context.stream.run(pipeline, {memory}, rounds, {groups}, operations);
         });
}

double copy_rate(Context& context, const View& from, const View& to) {
  const uint32_t local = 64, words = static_cast<uint32_t>(from.bytes / 16), groups = 4096;
  const Pipeline& pipeline = context.pipelines.get("peak_copy", {local});
  return 2.0 * static_cast<double>(from.bytes) / best_seconds(context.stream, [&] {
           context.stream.run(pipeline, {from, to}, words, {groups}, words);
         });
}

}  // namespace

VulkanPeaks measure_vulkan_peaks(Backend& backend) {
  auto& device = static_cast<VulkanBackend&>(backend);
  const bool software = device.context().device.is_software();
  const VkDeviceSize bytes = VkDeviceSize{software ? 32u : 128u} << 20;  // far larger than caches
  const Buffer from(device.shared_context(), bytes), to(device.shared_context(), bytes);
  const std::lock_guard lock(device.context().mutex);
  return {multiply_add_rate(device.context(), from.view(), software),
          copy_rate(device.context(), from.view(), to.view())};
}

}  // namespace sotto
