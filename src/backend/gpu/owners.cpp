#include "backend/gpu/owners.h"

namespace sotto::gpu {

Buffer::Buffer(std::shared_ptr<Context> context, size_t bytes) : context_(std::move(context)), bytes_(bytes) {
  if (bytes > 0) address_ = context_->allocate(bytes);
}

Buffer::~Buffer() {
  if (bytes_ > 0) context_->release(address_, bytes_);
}

PinnedBuffer::PinnedBuffer(std::shared_ptr<Context> context, size_t bytes)
    : context_(std::move(context)),
      data_(static_cast<std::byte*>(context_->allocate_pinned(bytes))),
      bytes_(bytes) {}

PinnedBuffer::~PinnedBuffer() {
  context_->release_pinned(data_, bytes_);
}

EventOwner::EventOwner(std::shared_ptr<Context> context) : context_(std::move(context)) {
  const Entered scope(*context_);
  context_->check(context_->driver().create_event(&event_, false), "creating an event");
}

EventOwner::~EventOwner() {
  if (const EnteredQuietly scope(*context_); scope.entered()) context_->driver().destroy_event(event_);
}

StreamOwner::StreamOwner(std::shared_ptr<Context> context) : context_(std::move(context)) {
  const Entered scope(*context_);
  context_->check(context_->driver().create_stream(&stream_), "creating a stream");
}

StreamOwner::~StreamOwner() {
  if (const EnteredQuietly scope(*context_); scope.entered()) context_->driver().destroy_stream(stream_);
}

GraphOwner::~GraphOwner() {
  if (const EnteredQuietly scope(*context_); scope.entered()) context_->driver().destroy_graph(graph_);
}

}  // namespace sotto::gpu
