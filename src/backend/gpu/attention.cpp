#include <cmath>

#include "backend/gpu/gpu_types.h"
#include "base/error.h"

namespace sotto::gpu {
namespace {

constexpr int kWidestHead = 128;

int head_width_of(size_t width, int heads) {
  const int head = static_cast<int>(width) / heads;
  if (head > kWidestHead)
    throw Error(ErrorCode::unsupported, "attention on the GPU has room for heads of up to {} values, not {}",
                kWidestHead, head);
  return head;
}

float scale_of(int head_width) {
  return 1.0f / std::sqrt(static_cast<float>(head_width));
}

}  // namespace

void GpuBackend::do_attend_encoder(const Rows& qkv, const Rows& out, int heads, int windows) {
  const Entered scope(*context_);
  const int head = head_width_of(out.width, heads);
  const EncoderAttentionArgs args{activations("attend_encoder", qkv),
                                  static_cast<Stride>(qkv.stride),
                                  activations("attend_encoder", out),
                                  static_cast<Stride>(out.stride),
                                  static_cast<int>(qkv.count) / windows,
                                  windows,
                                  heads,
                                  head,
                                  scale_of(head)};
  if (fast_attention_ && tensor_cores_ && tensor_cores_->attend_encoder(queue_, args)) return;
  queue_.launch(kernels_.attend_encoder, shape_of(args), args);
}

void GpuBackend::do_store_cross(CrossCache& cache, int layer, int window, const Rows& kv) {
  const Entered scope(*context_);
  const CopyRowsArgs args{activations("store_cross", kv),
                          static_cast<Stride>(kv.stride),
                          static_cast<GpuCrossCache&>(cache).entry(layer, window),
                          static_cast<Stride>(kv.width),
                          static_cast<int>(kv.count),
                          static_cast<int>(kv.width)};
  queue_.launch(kernels_.copy_rows, shape_of(args), args);
}

// The cache is made of just such rows.
void GpuBackend::do_project_cross(const Matrix& weights, const Rows& x, CrossCache& cache, int layer,
                                  int first_window, const Rows&) {
  if (x.count == 0) return;
  const Entered scope(*context_);
  LinearArgs args{};
  args.x = activations("project_cross", x);
  args.x_stride = static_cast<Stride>(x.stride);
  args.y = static_cast<GpuCrossCache&>(cache).entry(layer, first_window);
  args.y_stride = static_cast<Stride>(weights.outputs());
  args.rows = static_cast<int>(x.count);
  multiply(static_cast<const GpuMatrix&>(weights), args);
}

void GpuBackend::do_attend_self(SelfCache& cache, int layer, const Rows& qkv, std::span<const DecodeRow> rows,
                                const Rows& out) {
  if (rows.empty()) return;
  const Entered scope(*context_);
  const CacheShape& shape = cache.shape();
  const int head = head_width_of(out.width, shape.heads);
  const SelfAttentionArgs args{activations("attend_self", qkv),
                               static_cast<Stride>(qkv.stride),
                               static_cast<GpuSelfCache&>(cache).layer(layer),
                               on_device(rows),
                               activations("attend_self", out),
                               static_cast<Stride>(out.stride),
                               static_cast<int>(rows.size()),
                               shape.positions,
                               shape.heads,
                               head,
                               scale_of(head)};
  queue_.launch(kernels_.attend_self, shape_of(args), args);
}

void GpuBackend::do_attend_cross(const CrossCache& cache, int layer, const Rows& q,
                                 std::span<const DecodeRow> rows, const Rows& out,
                                 const CrossWeightsRequest* weights) {
  if (rows.empty()) return;
  const Entered scope(*context_);
  const auto& memory = static_cast<const GpuCrossCache&>(cache);
  const CacheShape& shape = cache.shape();
  const int head = head_width_of(out.width, shape.heads);
  const size_t parts = rows.size() * static_cast<size_t>(shape.heads);
  const size_t chunks = blocks_for(shape.positions, kCrossChunk);
  const Buffer& partial =
      cross_partial_.reserve(queue_, parts * chunks * static_cast<size_t>(head + 2) * sizeof(float));
  const Buffer& done = cross_done_.reserve(queue_, parts * sizeof(unsigned), true);
  const CrossAttentionArgs args{activations("attend_cross", q),
                                static_cast<Stride>(q.stride),
                                memory.layer(layer),
                                on_device(rows),
                                activations("attend_cross", out),
                                static_cast<Stride>(out.stride),
                                partial.pointer<float>(),
                                done.pointer<unsigned>(),
                                static_cast<int>(rows.size()),
                                shape.positions,
                                shape.heads,
                                head,
                                scale_of(head)};
  queue_.launch(kernels_.attend_cross, shape_of(args), args);
  if (weights != nullptr && !weights->heads.empty())
    read_cross_weights(memory, layer, q, args.rows, *weights);
}

// Rows go in groups, so that the memory for the weights does not grow with the length of a text.
void GpuBackend::read_cross_weights(const GpuCrossCache& cache, int layer, const Rows& q,
                                    const DeviceRow* rows, const CrossWeightsRequest& request) {
  constexpr size_t kMostBytes = size_t{16} << 20;
  const CacheShape& shape = cache.shape();
  const size_t count = request.heads.size(), row_values = count * static_cast<size_t>(shape.positions);
  const size_t rows_at_once = std::max(kMostBytes / (row_values * sizeof(float)), size_t{1});
  const size_t group = std::min(rows_at_once, q.count), values_bytes = group * row_values * sizeof(float);
  const Buffer& memory = cross_weights_.reserve(queue_, values_bytes + count * sizeof(int));
  queue_.upload(memory.address(values_bytes), std::as_bytes(request.heads));
  const int head = shape.width / shape.heads;
  const size_t before = request.out->size();
  request.out->resize(before + q.count * row_values);
  std::span<float> left(request.out->data() + before, q.count * row_values);
  for (size_t first = 0; first < q.count; first += group) {
    const Rows part = q.rows(first, std::min(group, q.count - first));
    const CrossWeightsArgs args{activations("attend_cross", part),
                                static_cast<Stride>(part.stride),
                                cache.layer(layer),
                                rows + first,
                                memory.pointer<const int>(values_bytes),
                                memory.pointer<float>(),
                                static_cast<int>(part.count),
                                static_cast<int>(count),
                                shape.positions,
                                shape.heads,
                                head,
                                scale_of(head)};
    queue_.launch(kernels_.cross_weights, shape_of(args), args);
    queue_.download(std::as_writable_bytes(left.first(part.count * row_values)), memory.address());
    left = left.subspan(part.count * row_values);
  }
}

void GpuBackend::do_copy_slot(SelfCache& cache, int from, int to, int positions) {
  if (from == to || positions == 0) return;
  const Entered scope(*context_);
  const CacheShape& shape = cache.shape();
  const CopySlotArgs args{static_cast<GpuSelfCache&>(cache).layer(0),
                          shape.layers,
                          shape.entries,
                          shape.positions,
                          shape.width,
                          from,
                          to,
                          positions};
  queue_.launch(kernels_.copy_slot, shape_of(args), args);
}

}  // namespace sotto::gpu
