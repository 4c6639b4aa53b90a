#include <algorithm>

#include "backend/cpu/cpu_types.h"
#include "base/error.h"

namespace sotto::cpu {
namespace {

// Large enough that a task's start costs nothing, small enough that many threads share one head evenly.
constexpr size_t kQueriesPerTask = 96;

}  // namespace

// Window by window: first every head's keys and values are packed, then every head's queries go through them.
// The packed heads of one window stay in the caches; a matrix of all scores never exists.
void CpuBackend::do_attend_encoder(const Rows& qkv, const Rows& out, int heads, int windows) {
  const size_t head_count = static_cast<size_t>(heads), width = out.width, head = width / head_count;
  const size_t positions = qkv.count / static_cast<size_t>(windows);
  if (head > kMaxHead)
    throw Error(ErrorCode::unsupported, "attention on the CPU has room for heads of up to {} values, not {}",
                kMaxHead, head);
  const AttentionKernels& kernels = kernels_.attention;
  const bool fixed = compute_type_ == ComputeType::int8 && kernels.encoder_fixed.attend != nullptr;
  const EncoderAttention& kernel = fixed ? kernels.encoder_fixed : kernels.encoder_float;

  const size_t packed_bytes = (kernel.packed_bytes(positions, head) + 63) / 64 * 64;
  if (packed_heads_.size() < packed_bytes * head_count)
    packed_heads_ = AlignedBytes(packed_bytes * head_count);
  const auto packed = [&](size_t h) { return packed_heads_.as<std::byte>() + h * packed_bytes; };

  const size_t blocks = (positions + kQueriesPerTask - 1) / kQueriesPerTask;
  for (size_t first_row = 0; first_row < qkv.count; first_row += positions) {
    const float* queries = row_data(qkv, first_row);
    pool_.parallel_for(head_count, [&](size_t h) {
      const float* keys = queries + width + h * head;
      kernel.pack(keys, keys + width, qkv.stride, positions, head, packed(h));
    });
    pool_.parallel_for(head_count * blocks, [&](size_t task) {
      const size_t h = task / blocks, first = task % blocks * kQueriesPerTask;
      const size_t count = std::min(kQueriesPerTask, positions - first);
      kernel.attend(queries + first * qkv.stride + h * head, qkv.stride, count, packed(h), positions, head,
                    row_data(out, first_row + first) + h * head, out.stride);
    });
  }
}

}  // namespace sotto::cpu
