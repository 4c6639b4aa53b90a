#include "base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace sotto {
namespace {

// How long a thread polls before it sleeps: longer than the gaps between the loops of a decoding step, far
// shorter than anything a person or a power meter would notice.
constexpr std::chrono::microseconds kSpinTime{40};
constexpr int kPollsPerClockRead = 32;

void pause_briefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Polls until ready() or the spin time is over; returns whether it was ready.
template <class Ready>
bool spin_until(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPollsPerClockRead; ++i) {
      if (ready()) return true;
      pause_briefly();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

}  // namespace

// The loop that is running, in one word: a number that is new for each loop, whether workers may still enter,
// and how many are inside. The caller waits only for those inside: a worker that the system has not woken in
// time is simply not part of that loop.
namespace {

constexpr uint64_t kInsideMask = 0xffff;
constexpr uint64_t kOpen = 0x10000;
constexpr uint64_t kNextLoop = 0x20000;

uint64_t loop_number(uint64_t word) noexcept {
  return word / kNextLoop;
}

// The pool whose loop this thread is running, so that a loop inside a loop runs inline instead of waiting for
// itself.
thread_local const void* t_running_pool = nullptr;

struct RunningMark {
  explicit RunningMark(const void* pool) : previous(t_running_pool) { t_running_pool = pool; }
  ~RunningMark() { t_running_pool = previous; }
  const void* previous;
};

}  // namespace

struct ThreadPool::State {
  using Body = FunctionRef<void(size_t)>;

  std::vector<std::thread> workers;
  std::mutex callers;  // held during a loop: loops run one after the other

  // Written while the loop is closed and nobody is inside, read by those inside.
  std::optional<Body> body;
  size_t tasks = 0;

  alignas(64) std::atomic<size_t> next_task{0};
  alignas(64) std::atomic<uint64_t> loop{0};
  std::atomic<bool> stopping{false};

  // Sleepers announce themselves before they look at `loop` for the last time; whoever changes `loop` looks
  // for sleepers afterwards. So one of the two sees the other.
  alignas(64) std::atomic<int> sleeping_workers{0};
  std::atomic<bool> caller_sleeps{false};
  std::mutex sleep;
  std::condition_variable loop_opened, loop_left;

  void draw_tasks() {
    for (size_t task; (task = next_task.fetch_add(1, std::memory_order_relaxed)) < tasks;) (*body)(task);
  }

  void work();
  void wait_for_loop(uint64_t done);
  bool enter(uint64_t& done);
  void leave();
  void open(size_t task_count, Body loop_body);
  void close_and_wait();
  void wake_workers();
};

void ThreadPool::State::work() {
  const RunningMark mark(this);
  uint64_t done = 0;  // the last loop this worker took part in
  for (;;) {
    wait_for_loop(done);
    if (stopping.load()) return;
    if (!enter(done)) continue;
    draw_tasks();
    leave();
  }
}

void ThreadPool::State::wait_for_loop(uint64_t done) {
  const auto wanted = [&] {
    const uint64_t word = loop.load();
    return ((word & kOpen) != 0 && loop_number(word) != done) || stopping.load();
  };
  if (spin_until(wanted)) return;
  std::unique_lock lock(sleep);
  sleeping_workers.fetch_add(1);
  loop_opened.wait(lock, wanted);
  sleeping_workers.fetch_sub(1);
}

bool ThreadPool::State::enter(uint64_t& done) {
  uint64_t word = loop.load();
  while ((word & kOpen) != 0) {
    if (!loop.compare_exchange_weak(word, word + 1)) continue;
    done = loop_number(word);
    return true;
  }
  return false;
}

void ThreadPool::State::leave() {
  const uint64_t before = loop.fetch_sub(1);
  if ((before & kInsideMask) != 1 || !caller_sleeps.load()) return;
  const std::lock_guard lock(sleep);
  loop_left.notify_one();
}

void ThreadPool::State::open(size_t task_count, Body loop_body) {
  body.emplace(loop_body);
  tasks = task_count;
  next_task.store(0, std::memory_order_relaxed);
  loop.fetch_add(kNextLoop + kOpen);
  wake_workers();
}

void ThreadPool::State::close_and_wait() {
  loop.fetch_sub(kOpen);
  const auto empty = [&] { return (loop.load() & kInsideMask) == 0; };
  if (spin_until(empty)) return;
  std::unique_lock lock(sleep);
  caller_sleeps.store(true);
  loop_left.wait(lock, empty);
  caller_sleeps.store(false);
}

void ThreadPool::State::wake_workers() {
  if (sleeping_workers.load() == 0) return;
  const std::lock_guard lock(sleep);
  loop_opened.notify_all();
}

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
  for (int i = 1; i < threads; ++i) state_->workers.emplace_back([state = state_.get()] { state->work(); });
}

ThreadPool::~ThreadPool() {
  state_->stopping.store(true);
  state_->wake_workers();
  for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::size() const noexcept {
  return static_cast<int>(state_->workers.size()) + 1;
}

void ThreadPool::parallel_for(size_t tasks, FunctionRef<void(size_t)> body) {
  if (tasks <= 1 || state_->workers.empty() || t_running_pool == state_.get()) {
    for (size_t task = 0; task < tasks; ++task) body(task);
    return;
  }
  const std::lock_guard one_loop(state_->callers);
  const RunningMark mark(state_.get());
  state_->open(tasks, body);
  state_->draw_tasks();
  state_->close_and_wait();
}

}  // namespace sotto
