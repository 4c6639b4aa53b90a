#include <algorithm>

#include "backend/gpu/gpu_types.h"
#include "base/error.h"

namespace sotto::gpu {

void* activations(const char* op, const Rows& rows) {
  if (is_full(rows))
    throw Error(ErrorCode::internal, "{}: rows of full precision where activations belong", op);
  return any_rows(rows);
}

const Buffer& Scratch::reserve(Queue& queue, size_t bytes, bool cleared) {
  if (!piece_ || piece_->bytes() < bytes) {
    piece_.reset();
    piece_ = std::make_shared<Buffer>(queue.shared_context(), bytes);
    if (cleared) queue.fill_zero(piece_->address(), bytes, 1, bytes);
  }
  return *piece_;
}

std::unique_ptr<Memory> GpuBackend::do_allocate(size_t elements, Precision precision) {
  const size_t bytes = precision == Precision::full ? sizeof(float) : element_bytes(element_);
  if (elements > SIZE_MAX / 2 / bytes)
    throw Error(ErrorCode::out_of_memory, "{} has no room for {} values", context_->facts().name, elements);
  return std::make_unique<GpuMemory>(context_, elements, bytes, precision);
}

std::unique_ptr<SelfCache> GpuBackend::do_make_self_cache(const CacheShape& shape) {
  return std::make_unique<GpuSelfCache>(context_, shape, element_bytes(element_));
}

std::unique_ptr<CrossCache> GpuBackend::do_make_cross_cache(const CacheShape& shape) {
  return std::make_unique<GpuCrossCache>(context_, shape, element_bytes(element_));
}

void GpuBackend::do_write(const Rows& to, std::span<const float> from) {
  if (from.empty()) return;
  const Entered scope(*context_);
  const size_t rows_at_once = Queue::staging_bytes() / (to.width * sizeof(float));
  if (rows_at_once == 0)
    throw Error(ErrorCode::unsupported, "rows of {} values are too wide for the GPU", to.width);
  for (size_t first = 0; first < to.count; first += rows_at_once) {
    const Rows part = to.rows(first, std::min(rows_at_once, to.count - first));
    queue_.upload(staging_.address(), std::as_bytes(from.subspan(first * to.width, part.count * to.width)));
    const ConvertArgs args{any_rows(part),
                           static_cast<Stride>(part.stride),
                           staging_.pointer<float>(),
                           static_cast<int>(part.count),
                           static_cast<int>(part.width),
                           is_full(part)};
    queue_.launch(kernels_.write, shape_of(args), args);
  }
}

void GpuBackend::do_read(const Rows& from, std::span<float> to) {
  if (to.empty()) return;
  const Entered scope(*context_);
  const size_t rows_at_once = Queue::staging_bytes() / (from.width * sizeof(float));
  if (rows_at_once == 0)
    throw Error(ErrorCode::unsupported, "rows of {} values are too wide for the GPU", from.width);
  for (size_t first = 0; first < from.count; first += rows_at_once) {
    const Rows part = from.rows(first, std::min(rows_at_once, from.count - first));
    const ConvertArgs args{any_rows(part),
                           static_cast<Stride>(part.stride),
                           staging_.pointer<float>(),
                           static_cast<int>(part.count),
                           static_cast<int>(part.width),
                           is_full(part)};
    queue_.launch(kernels_.read, shape_of(args), args);
    queue_.download(std::as_writable_bytes(to.subspan(first * from.width, part.count * from.width)),
                    staging_.address());
  }
}

void GpuBackend::do_fill_zero(const Rows& rows) {
  const Entered scope(*context_);
  const size_t bytes = static_cast<const GpuMemory*>(rows.memory)->element_bytes();
  const size_t pitch = rows.count > 1 ? rows.stride : rows.width;
  queue_.fill_zero(reinterpret_cast<Address>(any_rows(rows)), rows.width * bytes, rows.count, pitch * bytes);
}

}  // namespace sotto::gpu
