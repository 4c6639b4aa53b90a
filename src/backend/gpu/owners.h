#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "backend/gpu/context.h"

// The owners of what a driver hands out. None of them throws when it ends.
namespace sotto::gpu {

class Buffer {  // memory on the device; its contents are undefined at first
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<Context> context, size_t bytes);  // throws Error(out_of_memory) with the figures
  ~Buffer();
  Buffer(Buffer&& other) noexcept
      : context_(std::move(other.context_)),
        address_(std::exchange(other.address_, 0)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  size_t bytes() const noexcept { return bytes_; }
  Address address(size_t offset = 0) const noexcept { return address_ + offset; }
  // As a kernel's argument wants it; the host cannot read there.
  template <class T = void>
  T* pointer(size_t offset = 0) const noexcept {
    return reinterpret_cast<T*>(address_ + offset);
  }

 private:
  std::shared_ptr<Context> context_;
  Address address_ = 0;
  size_t bytes_ = 0;
};

class PinnedBuffer {  // memory of the host that the device copies from and to directly
 public:
  PinnedBuffer(std::shared_ptr<Context> context, size_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;

  size_t bytes() const noexcept { return bytes_; }
  std::byte* data() const noexcept { return data_; }

 private:
  std::shared_ptr<Context> context_;
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

class EventOwner {
 public:
  explicit EventOwner(std::shared_ptr<Context> context);
  ~EventOwner();
  EventOwner(const EventOwner&) = delete;
  EventOwner& operator=(const EventOwner&) = delete;
  Event get() const noexcept { return event_; }

 private:
  std::shared_ptr<Context> context_;
  Event event_ = nullptr;
};

class StreamOwner {
 public:
  explicit StreamOwner(std::shared_ptr<Context> context);
  ~StreamOwner();
  StreamOwner(const StreamOwner&) = delete;
  StreamOwner& operator=(const StreamOwner&) = delete;
  Stream get() const noexcept { return stream_; }

 private:
  std::shared_ptr<Context> context_;
  Stream stream_ = nullptr;
};

class GraphOwner {
 public:
  GraphOwner(std::shared_ptr<Context> context, Graph graph) : context_(std::move(context)), graph_(graph) {}
  ~GraphOwner();
  GraphOwner(const GraphOwner&) = delete;
  GraphOwner& operator=(const GraphOwner&) = delete;
  Graph get() const noexcept { return graph_; }

 private:
  std::shared_ptr<Context> context_;
  Graph graph_ = nullptr;
};

}  // namespace sotto::gpu
