#pragma once

#include <cstddef>
#include <memory>

#include "base/function_ref.h"

namespace sotto {

// A fixed set of threads for short, frequent parallel loops (a decoding step has dozens). Workers spin
// briefly between loops, then sleep. Several threads may call parallel_for; the loops then run one after the
// other.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // the calling thread counts as one of them
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const noexcept;

  // Runs body(task) once for every task in [0, tasks), in any order, on any thread. Which thread runs a task
  // never changes its result, so callers must not make the split depend on size(). The body must not throw.
  void parallel_for(size_t tasks, FunctionRef<void(size_t task)> body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sotto
