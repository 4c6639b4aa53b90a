#include <algorithm>
#include <cstring>

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

// A block of rows that fits into the staging memory; a row that does not fit alone goes in pieces.
template <class Use>
void GpuBackend::for_staged_blocks(const Rows& rows, const Use& use) {
  constexpr size_t kMost = Queue::staging_bytes() / sizeof(float);
  const size_t width = std::min(rows.width, kMost), at_once = kMost / width;
  for (size_t column = 0; column < rows.width; column += width)
    for (size_t first = 0; first < rows.count; first += at_once)
      use(rows.rows(first, std::min(at_once, rows.count - first))
              .columns(column, std::min(width, rows.width - column)),
          first * rows.width + column);
}

// To the staging memory on the device. One thread alone copies a window's mel more slowly than the bus
// carries it.
void GpuBackend::send_values(std::span<const float> values) {
  constexpr size_t kEach = size_t{64} << 10;  // values a task
  std::byte* reserved = queue_.reserve(values.size_bytes());
  pool_.parallel_for((values.size() + kEach - 1) / kEach, [&](size_t task) {
    const auto part = values.subspan(task * kEach, std::min(kEach, values.size() - task * kEach));
    std::memcpy(reserved + task * kEach * sizeof(float), part.data(), part.size_bytes());
  });
  queue_.send(staging_.address(), reserved, values.size_bytes());
}

void GpuBackend::do_write(const Rows& to, std::span<const float> from) {
  if (from.empty()) return;
  const Entered scope(*context_);
  for_staged_blocks(to, [&](const Rows& part, size_t begin) {
    send_values(from.subspan(begin, part.count * part.width));
    const ConvertArgs args{any_rows(part),
                           static_cast<Stride>(part.stride),
                           staging_.pointer<float>(),
                           static_cast<int>(part.count),
                           static_cast<int>(part.width),
                           is_full(part)};
    queue_.launch(kernels_.write, shape_of(args), args);
  });
}

void GpuBackend::do_read(const Rows& from, std::span<float> to) {
  if (to.empty()) return;
  const Entered scope(*context_);
  for_staged_blocks(from, [&](const Rows& part, size_t begin) {
    const ConvertArgs args{any_rows(part),
                           static_cast<Stride>(part.stride),
                           staging_.pointer<float>(),
                           static_cast<int>(part.count),
                           static_cast<int>(part.width),
                           is_full(part)};
    queue_.launch(kernels_.read, shape_of(args), args);
    queue_.download(std::as_writable_bytes(to.subspan(begin, part.count * part.width)), staging_.address());
  });
}

void GpuBackend::do_fill_zero(const Rows& rows) {
  const Entered scope(*context_);
  const size_t bytes = static_cast<const GpuMemory*>(rows.memory)->element_bytes();
  const size_t pitch = rows.count > 1 ? rows.stride : rows.width;
  queue_.fill_zero(reinterpret_cast<Address>(any_rows(rows)), rows.width * bytes, rows.count, pitch * bytes);
}

}  // namespace sotto::gpu
