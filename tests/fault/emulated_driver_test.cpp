// The emulated driver is a test's witness: it must notice what a real one would answer with an error, or with
// garbage.
#include <gtest/gtest.h>

#include "fault/emulated/control.h"
#include "platform/dynamic_library.h"

namespace sotto::test {
namespace {

using Address = unsigned long long;

class EmulatedDriver : public testing::Test {
 protected:
  EmulatedDriver() : library_(DynamicLibrary::open(SOTTO_EMULATED_CUDA)) {
    plan({});
    fill(retain_, "cuDevicePrimaryCtxRetain");
    fill(give_back_, "cuDevicePrimaryCtxRelease_v2");
    fill(push_, "cuCtxPushCurrent_v2");
    fill(pop_, "cuCtxPopCurrent_v2");
    fill(allocate_, "cuMemAlloc_v2");
    fill(release_, "cuMemFree_v2");
    fill(upload_, "cuMemcpyHtoDAsync_v2");
    fill(download_, "cuMemcpyDtoHAsync_v2");
    fill(create_stream_, "cuStreamCreate");
    fill(destroy_stream_, "cuStreamDestroy_v2");
    fill(begin_capture_, "cuStreamBeginCapture_v2");
    fill(end_capture_, "cuStreamEndCapture");
    fill(instantiate_, "cuGraphInstantiateWithFlags");
    fill(launch_graph_, "cuGraphLaunch");
    fill(destroy_captured_, "cuGraphDestroy");
    fill(destroy_graph_, "cuGraphExecDestroy");
    EXPECT_EQ(retain_(&context_, 0), 0);
    EXPECT_EQ(push_(context_), 0);
    EXPECT_EQ(create_stream_(&stream_, 0), 0);
  }
  ~EmulatedDriver() override {
    pop_(&context_);
    give_back_(0);
  }

  template <class Function>
  void fill(Function& function, const char* name) {
    function = library_.symbol<Function>(name);
  }
  void plan(const EmulatedPlan& plan) { library_.symbol<SetEmulatedPlan>(kSetEmulatedPlan)(plan); }
  EmulatedCounts counts() {
    EmulatedCounts counts;
    library_.symbol<ReadEmulatedCounts>(kReadEmulatedCounts)(counts);
    return counts;
  }

  DynamicLibrary library_;
  int (*retain_)(void**, int);
  int (*give_back_)(int);
  int (*push_)(void*);
  int (*pop_)(void**);
  int (*allocate_)(Address*, size_t);
  int (*release_)(Address);
  int (*upload_)(Address, const void*, size_t, void*);
  int (*download_)(void*, Address, size_t, void*);
  int (*create_stream_)(void**, unsigned);
  int (*destroy_stream_)(void*);
  int (*begin_capture_)(void*, int);
  int (*end_capture_)(void*, void**);
  int (*instantiate_)(void**, void*, unsigned long long);
  int (*launch_graph_)(void*, void*);
  int (*destroy_captured_)(void*);
  int (*destroy_graph_)(void*);
  void* context_ = nullptr;
  void* stream_ = nullptr;
};

TEST_F(EmulatedDriver, SeesMemoryThatIsFreedTwiceOrLeft) {
  Address memory = 0;
  ASSERT_EQ(allocate_(&memory, 100), 0);
  EXPECT_EQ(counts().live_bytes, 100u);
  EXPECT_EQ(release_(memory), 0);
  EXPECT_NE(release_(memory), 0);
  EXPECT_EQ(counts().violations, 1);
  ASSERT_EQ(allocate_(&memory, 100), 0);
  pop_(&context_);
  give_back_(0);  // with the memory and the stream
  EXPECT_EQ(counts().left_behind, 2);
  ASSERT_EQ(retain_(&context_, 0), 0);
  ASSERT_EQ(push_(context_), 0);
}

TEST_F(EmulatedDriver, SeesCopiesBeyondAnAllocation) {
  Address memory = 0;
  char bytes[101] = {};
  ASSERT_EQ(allocate_(&memory, 100), 0);
  EXPECT_EQ(upload_(memory + 1, bytes, 99, stream_), 0);
  EXPECT_NE(upload_(memory + 1, bytes, 100, stream_), 0);
  EXPECT_NE(download_(bytes, memory, 101, stream_), 0);
  EXPECT_NE(download_(reinterpret_cast<char*>(memory), memory, 10, stream_), 0);
  EXPECT_EQ(counts().violations, 3);
}

TEST_F(EmulatedDriver, FailsWhereItIsToldTo) {
  Address memory = 0;
  plan({.fail_allocation = 2});
  EXPECT_EQ(allocate_(&memory, 10), 0);
  EXPECT_EQ(allocate_(&memory, 10), 2);
  EXPECT_EQ(allocate_(&memory, 10), 0);
  plan({.lost_at = 2});
  EXPECT_EQ(allocate_(&memory, 10), 0);
  EXPECT_NE(release_(memory), 0);
  EXPECT_NE(allocate_(&memory, 10), 0);  // for ever
}

TEST_F(EmulatedDriver, AGraphDoesAgainWhatWasCaptured) {
  Address memory = 0;
  ASSERT_EQ(allocate_(&memory, sizeof(int)), 0);
  int value = 1, seen = 0;
  void *captured = nullptr, *graph = nullptr;
  ASSERT_EQ(begin_capture_(stream_, 1), 0);
  ASSERT_EQ(upload_(memory, &value, sizeof value, stream_), 0);
  Address other = 0;
  EXPECT_NE(allocate_(&other, 10), 0);  // not during a capture
  ASSERT_EQ(end_capture_(stream_, &captured), 0);
  ASSERT_EQ(instantiate_(&graph, captured, 0), 0);
  EXPECT_EQ(destroy_captured_(captured), 0);
  for (value = 5; value < 7; ++value) {
    ASSERT_EQ(launch_graph_(graph, stream_), 0);
    ASSERT_EQ(download_(&seen, memory, sizeof seen, stream_), 0);
    EXPECT_EQ(seen, value);
  }
  EXPECT_EQ(destroy_graph_(graph), 0);
  EXPECT_NE(launch_graph_(graph, stream_), 0);
}

}  // namespace
}  // namespace sotto::test
