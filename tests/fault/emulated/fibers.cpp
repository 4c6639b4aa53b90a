#include "fault/emulated/fibers.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

#include "backend/gpu/kernels/vendor/emulated.h"

#if defined(__SANITIZE_ADDRESS__)
#define SOTTO_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SOTTO_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(SOTTO_ADDRESS_SANITIZER)
#include <sanitizer/common_interface_defs.h>
#endif

namespace sotto::gpu::emulated {

constinit thread_local Place place{};

namespace {

namespace context = boost::context::detail;

constexpr int kMostThreads = 1024, kTeam = 32;
constexpr size_t kStackBytes = size_t{64} << 10;

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "emulated GPU: block (%d, %d, %d), thread %d: %s\n", place.block_x, place.block_y,
               place.block_z, place.thread, what);
  std::abort();
}

// A stack and where its run stopped; also the system thread's own, from which the first fiber is entered.
struct Strand {
  context::fcontext_t at = nullptr;
  const void* stack_bottom = nullptr;
  size_t stack_bytes = 0;
  void* sanitizer_state = nullptr;
};

// Leaves `from` for `to`; returns when somebody comes back to `from`.
void jump(Strand& from, Strand& to, bool for_good = false) {
#if defined(SOTTO_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &from.sanitizer_state, to.stack_bottom, to.stack_bytes);
#else
  (void)for_good;
#endif
  const context::transfer_t back = context::jump_fcontext(to.at, &from);
#if defined(SOTTO_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(from.sanitizer_state, nullptr, nullptr);
#endif
  static_cast<Strand*>(back.data)->at = back.fctx;
}

class Block {
 public:
  Block() : stacks_(new std::byte[kMostThreads * kStackBytes]), fibers_(kMostThreads) {
    for (size_t i = 0; i < fibers_.size(); ++i) {
      fibers_[i].strand.stack_bottom = stacks_.get() + i * kStackBytes;
      fibers_[i].strand.stack_bytes = kStackBytes;
    }
  }

  void run(int threads, FunctionRef<void()> body) {
    threads_ = threads;
    body_ = &body;
    arrived_ = finished_ = 0;
    for (int i = 0; i < threads; ++i) {
      Fiber& fiber = fibers_[static_cast<size_t>(i)];
      fiber.state = State::ready;
      fiber.exchanges = 0;
      fiber.strand.at = context::make_fcontext(stacks_.get() + static_cast<size_t>(i + 1) * kStackBytes,
                                               kStackBytes, start);
    }
    place.thread = 0;
    jump(outside_, fibers_[0].strand);
    if (finished_ != threads_) fail("some threads of the block never ended");
  }

  void wait() {
    const int me = place.thread;
    fibers_[static_cast<size_t>(me)].state = State::at_barrier;
    ++arrived_;
    go_on_from(me);
  }

  void exchange(unsigned* values, int count, int lane) {
    const int me = place.thread, first = me / kTeam * kTeam;
    Fiber& mine = fibers_[static_cast<size_t>(me)];
    // The next exchange may begin before the last thread has read this one's values.
    const unsigned turn = mine.exchanges++ % 2;
    std::copy_n(values, count, mine.given[turn]);
    switch_to(me, first + (me + 1) % kTeam);
    const Fiber& other = fibers_[static_cast<size_t>(first + lane)];
    if (other.exchanges < mine.exchanges || other.exchanges > mine.exchanges + 1)
      fail("a shuffle is not reached by all 32 threads");
    std::copy_n(other.given[turn], count, values);
  }

 private:
  enum class State { ready, at_barrier, finished };
  struct Fiber {
    Strand strand;
    State state = State::ready;
    unsigned exchanges = 0;
    unsigned given[2][kMostExchanged] = {};
  };

  static void start(context::transfer_t from);
  [[noreturn]] void run_fiber() {
    const int me = place.thread;
    (*body_)();
    fibers_[static_cast<size_t>(me)].state = State::finished;
    ++finished_;
    go_on_from(me);
    std::abort();  // nobody comes back to a fiber that has ended
  }

  // To the next thread that has not ended: all reach a barrier one after the other, then all leave it.
  void go_on_from(int me) {
    if (arrived_ > 0 && arrived_ + finished_ == threads_) {
      arrived_ = 0;
      for (int i = 0; i < threads_; ++i)
        if (Fiber& fiber = fibers_[static_cast<size_t>(i)]; fiber.state == State::at_barrier)
          fiber.state = State::ready;
    }
    const bool has_ended = fibers_[static_cast<size_t>(me)].state == State::finished;
    for (int step = 1; step <= threads_; ++step) {
      const int next = (me + step) % threads_;
      const State state = fibers_[static_cast<size_t>(next)].state;
      if (state == State::finished) continue;
      if (state == State::at_barrier) fail("a barrier is not reached by all threads of the block");
      if (next != me) switch_to(me, next);
      return;
    }
    if (has_ended) jump(fibers_[static_cast<size_t>(me)].strand, outside_, true);
  }

  void switch_to(int me, int next) {
    place.thread = next;
    jump(fibers_[static_cast<size_t>(me)].strand, fibers_[static_cast<size_t>(next)].strand,
         fibers_[static_cast<size_t>(me)].state == State::finished);
    place.thread = me;
  }

  std::unique_ptr<std::byte[]> stacks_;
  std::vector<Fiber> fibers_;
  Strand outside_;
  int threads_ = 0, arrived_ = 0, finished_ = 0;
  const FunctionRef<void()>* body_ = nullptr;
};

constinit thread_local Block* running = nullptr;  // of this system thread

void Block::start(context::transfer_t from) {
  Block& block = *running;
#if defined(SOTTO_ADDRESS_SANITIZER)
  const void* bottom = nullptr;
  size_t bytes = 0;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
  if (place.thread == 0) {
    block.outside_.stack_bottom = bottom;
    block.outside_.stack_bytes = bytes;
  }
#endif
  static_cast<Strand*>(from.data)->at = from.fctx;
  block.run_fiber();
}

}  // namespace

void wait_for_block() {
  running->wait();
}

void exchange(unsigned* values, int count, int lane) {
  running->exchange(values, count, lane);
}

void run_grid(const Grid& grid, int threads, FunctionRef<void()> body) {
  if (threads % kTeam != 0 || threads > kMostThreads) fail("a block has an odd number of threads");
  static thread_local Block block;
  running = &block;
  place.blocks_x = static_cast<int>(grid.x);
  const unsigned long long blocks = 1ULL * grid.x * grid.y * grid.z;
  for (unsigned long long i = 0; i < blocks; ++i) {
    const unsigned long long index = last_block_first ? blocks - 1 - i : i;
    place.block_x = static_cast<int>(index % grid.x);
    place.block_y = static_cast<int>(index / grid.x % grid.y);
    place.block_z = static_cast<int>(index / grid.x / grid.y);
    block.run(threads, body);
  }
}

}  // namespace sotto::gpu::emulated
