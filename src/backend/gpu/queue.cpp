#include "backend/gpu/queue.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace sotto::gpu {

Queue::Queue(std::shared_ptr<Context> context)
    : context_(std::move(context)), stream_(context_), halves_{Half(context_), Half(context_)} {}

// Memory must not go back while a copy or a kernel still uses it.
Queue::~Queue() {
  if (const EnteredQuietly scope(*context_); scope.entered()) context_->driver().synchronize(stream());
}

void Queue::launch_raw(const Kernel& kernel, const Launch& shape, void** parameters) {
  Launch as_asked = shape;
  as_asked.overlaps_previous = kernel.waits_itself;
  check(context_->driver().launch(kernel.function, as_asked, parameters, stream()), "launching a kernel");
}

std::byte* Queue::reserve(size_t bytes) {
  if (capturing_) throw Error(ErrorCode::internal, "a copy from the host cannot be recorded");
  if (bytes > staging_bytes()) throw Error(ErrorCode::internal, "{} bytes are too many for one copy", bytes);
  constexpr size_t kAlignment = 64;
  Half* half = &halves_[current_];
  if (half->used + bytes > staging_bytes()) {
    if (half->busy) check(context_->driver().record_event(half->sent.get(), stream()), "recording an event");
    current_ ^= 1;
    half = &halves_[current_];
    if (half->busy) check(context_->driver().wait_event(half->sent.get()), "waiting for a copy");
    half->busy = false;
    half->used = 0;
  }
  std::byte* reserved = half->memory.data() + half->used;
  half->used = std::min((half->used + bytes + kAlignment - 1) / kAlignment * kAlignment, staging_bytes());
  return reserved;
}

void Queue::send(Address to, const std::byte* reserved, size_t bytes) {
  halves_[current_].busy = true;
  check(context_->driver().upload(to, reserved, bytes, stream()), "copying to the device");
}

void Queue::upload(Address to, std::span<const std::byte> from) {
  while (!from.empty()) {
    const auto now = from.first(std::min(from.size(), staging_bytes()));
    std::byte* reserved = reserve(now.size());
    std::memcpy(reserved, now.data(), now.size());
    send(to, reserved, now.size());
    to += now.size();
    from = from.subspan(now.size());
  }
}

void Queue::download(std::span<std::byte> to, Address from) {
  while (!to.empty()) {
    synchronize();  // also frees both halves
    const auto now = to.first(std::min(to.size(), staging_bytes()));
    std::byte* landing = halves_[0].memory.data();
    check(context_->driver().download(landing, from, now.size(), stream()), "copying from the device");
    synchronize();
    std::memcpy(now.data(), landing, now.size());
    from += now.size();
    to = to.subspan(now.size());
  }
}

void Queue::copy(Address to, Address from, size_t bytes) {
  check(context_->driver().copy(to, from, bytes, stream()), "copying on the device");
}

void Queue::fill_zero(Address to, size_t width, size_t height, size_t pitch) {
  if (width == 0 || height == 0) return;
  if (pitch == width) width *= std::exchange(height, size_t{1}), pitch = width;
  check(context_->driver().fill(to, 0, width, height, pitch, stream()), "clearing memory");
}

void Queue::synchronize() {
  check(context_->driver().synchronize(stream()), "waiting for the device");
  for (Half& half : halves_) half.busy = false, half.used = 0;
  ++waits_;
}

std::unique_ptr<GraphOwner> Queue::capture(const std::function<void()>& operations) {
  Driver& driver = context_->driver();
  if (!driver.has_graphs() || driver.begin_capture(stream()) != kOk) return nullptr;
  capturing_ = true;
  Graph graph = nullptr;
  try {
    operations();
  } catch (...) {
    capturing_ = false;
    if (driver.end_capture(stream(), &graph) == kOk) driver.destroy_graph(graph);
    if (context_->lost()) throw;
    return nullptr;  // whatever it was will show when the operations are done one by one
  }
  capturing_ = false;
  const Result result = driver.end_capture(stream(), &graph);
  if (result == kOk) return std::make_unique<GraphOwner>(context_, graph);
  if (is_lost(result)) check(result, "recording launches");
  return nullptr;
}

void Queue::launch(const GraphOwner& graph) {
  check(context_->driver().launch_graph(graph.get(), stream()), "launching a recording");
}

}  // namespace sotto::gpu
