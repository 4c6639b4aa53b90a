#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>

#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/owners.h"

namespace sotto::gpu {

// The stream of a backend: launches and copies happen in the order in which they are asked for. All calls are
// made with the context entered.
class Queue {
 public:
  explicit Queue(std::shared_ptr<Context> context);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  Context& context() const noexcept { return *context_; }
  const std::shared_ptr<Context>& shared_context() const noexcept { return context_; }
  Stream stream() const noexcept { return stream_.get(); }

  template <class Arguments>
  void launch(const Kernel& kernel, const LaunchShape& shape, const Arguments& arguments) {
    launch(kernel, Launch{shape.grid_x, shape.grid_y, shape.grid_z, shape.threads, shape.shared_bytes},
           arguments);
  }
  template <class Arguments>
  void launch(const Kernel& kernel, const Launch& shape, const Arguments& arguments) {
    Arguments copy = arguments;
    void* parameters[] = {&copy};
    launch_raw(kernel, shape, parameters);
  }
  void launch_raw(const Kernel& kernel, const Launch& shape, void** parameters);

  // Copies through pinned memory, so that the caller's may be forgotten at once.
  void upload(Address to, std::span<const std::byte> from);
  // Memory for `bytes` (at most staging_bytes()) that send() then copies from.
  std::byte* reserve(size_t bytes);
  void send(Address to, const std::byte* reserved, size_t bytes);
  static constexpr size_t staging_bytes() { return size_t{8} << 20; }

  void download(std::span<std::byte> to, Address from);  // waits for it
  void copy(Address to, Address from, size_t bytes);
  void fill_zero(Address to, size_t width, size_t height, size_t pitch);
  void synchronize();
  uint64_t waits() const noexcept {
    return waits_;
  }  // how often the host has waited for all that was asked for

  // Keeps what `operations` ask for instead of doing it. nullptr: the driver cannot keep them; nothing was
  // done.
  std::unique_ptr<GraphOwner> capture(const std::function<void()>& operations);
  void launch(const GraphOwner& graph);

 private:
  struct Half {
    explicit Half(const std::shared_ptr<Context>& context)
        : memory(context, staging_bytes()), sent(context) {}
    PinnedBuffer memory;
    EventOwner sent;
    size_t used = 0;
    bool busy = false;  // copies from it may still be under way
  };
  void check(Result result, const char* step) const { context_->check(result, step); }

  std::shared_ptr<Context> context_;
  StreamOwner stream_;
  std::array<Half, 2> halves_;
  size_t current_ = 0;
  bool capturing_ = false;
  uint64_t waits_ = 0;
};

}  // namespace sotto::gpu
