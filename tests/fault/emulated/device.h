#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "fault/emulated/control.h"
#include "fault/emulated/kernels.h"

// What is behind both emulated drivers: memory, streams, graphs and kernels of one device on the CPU. Work is
// done when it is asked for; memory comes as a pattern that reads as no number. Answers are those of the real
// drivers, which number them alike.
namespace sotto::gpu::emulated {

using Result = int;
inline constexpr Result kOk = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotInitialised = 3, kNoDevice = 100,
                        kInvalidContext = 201, kInvalidHandle = 400, kNotFound = 500, kOutOfResources = 701,
                        kLost = 719, kCaptureUnsupported = 900, kCaptureInvalidated = 901, kUnknown = 999;

struct Stream;
struct Event;
struct Module;
struct Graph;

class Device {
 public:
  void set_plan(const test::EmulatedPlan& plan);
  void read_counts(test::EmulatedCounts& counts) const;

  // Every entry point begins with this: it counts the call, and answers what the plan says.
  enum class Kind { other, allocation, launch, release };
  Result enter(Kind kind = Kind::other);
  std::unique_lock<std::recursive_mutex> lock() const { return std::unique_lock(mutex_); }

  Result retain();
  Result give_back();
  bool is_retained() const { return retained_ > 0; }

  size_t total_bytes() const;
  size_t free_bytes() const { return total_bytes() - used_bytes_; }
  Result allocate(void** memory, size_t bytes);
  Result release(void* memory);
  Result allocate_pinned(void** memory, size_t bytes);
  Result release_pinned(void* memory);

  Result upload(void* to, const void* from, size_t bytes, Stream* stream);
  Result download(void* to, const void* from, size_t bytes, Stream* stream);
  Result copy(void* to, const void* from, size_t bytes, Stream* stream);
  Result fill(void* to, size_t pitch, int value, size_t width, size_t height, Stream* stream);

  Result create_stream(Stream** stream);
  Result destroy_stream(Stream* stream);
  Result synchronize(Stream* stream);
  Result create_event(Event** event);
  Result destroy_event(Event* event);
  Result record_event(Event* event, Stream* stream);
  Result synchronize_event(Event* event);
  Result elapsed(float* milliseconds, Event* from, Event* to);

  Result load_module(Module** module, const void* image);
  Result unload_module(Module* module);
  Result find_function(void** function, Module* module, const char* name);
  Result launch(const void* function, const Grid& grid, unsigned threads, size_t shared_bytes, Stream* stream,
                void** arguments);

  Result begin_capture(Stream* stream);
  Result end_capture(Stream* stream, Graph** captured);
  Result instantiate(Graph** ready, Graph* captured);
  Result launch_graph(Graph* graph, Stream* stream);
  Result destroy_graph(Graph* graph);

 private:
  Result violation(const std::string& what, Result answer = kInvalidValue);
  bool is_on_device(const void* memory, size_t bytes) const;
  bool touches_device(const void* memory, size_t bytes) const;
  bool is_capturing() const;  // by this thread
  Result run_or_record(Stream* stream, std::function<void()> work);
  template <class Object>
  Result destroy(std::map<Object*, std::unique_ptr<Object>>& objects, Object* object, const char* what);
  size_t live_objects() const;
  void drop_everything();

  mutable std::recursive_mutex mutex_;
  test::EmulatedPlan plan_;
  test::EmulatedCounts counts_;
  bool lost_ = false;
  int retained_ = 0;
  size_t used_bytes_ = 0;
  std::map<const std::byte*, std::vector<std::byte>> memory_, pinned_;
  std::map<Stream*, std::unique_ptr<Stream>> streams_;
  std::map<Event*, std::unique_ptr<Event>> events_;
  std::map<Module*, std::unique_ptr<Module>> modules_;
  std::map<Graph*, std::unique_ptr<Graph>> graphs_;
};

Device& device();

}  // namespace sotto::gpu::emulated
