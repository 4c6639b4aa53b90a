#include "backend/cpu/cpu_types.h"

namespace sotto::cpu {

TaskScratch::TaskScratch(const ThreadPool& pool) : busy_(static_cast<size_t>(pool.size())) {}

void TaskScratch::reserve(size_t bytes_each) {
  if (bytes_each <= bytes_each_) return;
  bytes_each_ = (bytes_each + 63) / 64 * 64;
  bytes_ = AlignedBytes(bytes_each_ * busy_.size());
}

TaskScratch::Lease::Lease(TaskScratch& scratch) noexcept : scratch_(scratch), piece_(0) {
  // At most as many tasks run as there are pieces, so one is free or about to be.
  while (scratch_.busy_[piece_].exchange(true, std::memory_order_acquire))
    piece_ = (piece_ + 1) % scratch_.busy_.size();
}

TaskScratch::Lease::~Lease() {
  scratch_.busy_[piece_].store(false, std::memory_order_release);
}

float* TaskScratch::Lease::data() const noexcept {
  return reinterpret_cast<float*>(scratch_.bytes_.as<std::byte>() + piece_ * scratch_.bytes_each_);
}

}  // namespace sotto::cpu
