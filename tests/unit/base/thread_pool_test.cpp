#include "base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace sotto {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, RunsEveryTaskOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.size(), GetParam());
  for (const size_t tasks : {0, 1, 2, 3, 7, 64, 1000}) {
    std::vector<int> runs(tasks);  // plain ints: the end of a loop must make the workers' writes visible
    pool.parallel_for(tasks, [&](size_t task) { ++runs[task]; });
    for (size_t task = 0; task < tasks; ++task) EXPECT_EQ(runs[task], 1) << task << " of " << tasks;
  }
}

TEST_P(ThreadPoolTest, ManyShortLoopsSeeEachOthersResults) {
  ThreadPool pool(GetParam());
  std::vector<int> values(8);
  constexpr int kLoops = 5000;
  for (int loop = 0; loop < kLoops; ++loop)
    pool.parallel_for(values.size(), [&](size_t task) { values[task] += loop; });
  for (const int value : values) EXPECT_EQ(value, kLoops * (kLoops - 1) / 2);
}

TEST_P(ThreadPoolTest, WakesWorkersThatSleep) {
  ThreadPool pool(GetParam());
  for (int loop = 0; loop < 20; ++loop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // longer than the workers poll
    std::atomic<int> runs{0};
    pool.parallel_for(16, [&](size_t) { ++runs; });
    EXPECT_EQ(runs, 16);
  }
}

TEST_P(ThreadPoolTest, WaitsForSlowTasks) {
  ThreadPool pool(GetParam());
  std::vector<int> values(8);
  pool.parallel_for(values.size(), [&](size_t task) {
    std::this_thread::sleep_for(std::chrono::milliseconds(task));
    values[task] = 1;
  });
  for (const int value : values) EXPECT_EQ(value, 1);
}

TEST_P(ThreadPoolTest, RunsALoopInsideALoopInline) {
  ThreadPool pool(GetParam());
  std::vector<int> runs(16);
  pool.parallel_for(4, [&](size_t outer) {
    const std::thread::id thread = std::this_thread::get_id();
    pool.parallel_for(4, [&](size_t inner) {
      EXPECT_EQ(std::this_thread::get_id(), thread);
      ++runs[outer * 4 + inner];
    });
  });
  for (const int count : runs) EXPECT_EQ(count, 1);
}

TEST_P(ThreadPoolTest, ALoopOfAnotherPoolInsideALoopIsParallelAgain) {
  ThreadPool outer_pool(GetParam()), inner_pool(2);
  std::atomic<int> runs{0};
  outer_pool.parallel_for(4, [&](size_t) { inner_pool.parallel_for(4, [&](size_t) { ++runs; }); });
  EXPECT_EQ(runs, 16);
}

TEST_P(ThreadPoolTest, SerialisesSeveralCallers) {
  ThreadPool pool(GetParam());
  std::vector<int> values(4);  // not atomic: two loops at once would be a race
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 3; ++caller)
    callers.emplace_back([&] {
      for (int loop = 0; loop < 200; ++loop)
        if (pool.size() > 1) pool.parallel_for(values.size(), [&](size_t task) { ++values[task]; });
    });
  for (std::thread& caller : callers) caller.join();
  for (const int value : values) EXPECT_EQ(value, pool.size() > 1 ? 600 : 0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, ThreadPoolTest, testing::Values(1, 2, 3, 8));

TEST(ThreadPool, StartsAndEndsWithoutWork) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

TEST(ThreadPool, TreatsZeroAndNegativeSizesAsOne) {
  EXPECT_EQ(ThreadPool(0).size(), 1);
  EXPECT_EQ(ThreadPool(-3).size(), 1);
}

}  // namespace
}  // namespace sotto
