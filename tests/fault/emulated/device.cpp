#include "fault/emulated/device.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "fault/fake_script.h"

namespace sotto::gpu::emulated {

using Work = std::function<void()>;
struct Graph {
  std::vector<Work> work;
  bool has_kernels = false;
};
struct Stream {
  bool is_capturing = false, is_broken = false;
  std::thread::id by;
  Graph captured;
};
struct Event {
  std::chrono::steady_clock::time_point at;
};
struct Module {};

namespace {

constexpr size_t kPlainSharedBytes = 48 << 10;
constexpr unsigned kMostBlocks = 65535;  // along y and z
constexpr size_t kDefaultBytes = size_t{8} << 30;
constexpr std::byte kPattern{0xff};  // not a number, in every type

long number_from(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::atol(text);
}

test::EmulatedPlan plan_from_environment() {
  return {number_from("SOTTO_EMULATED_FAIL_ALLOCATION"), number_from("SOTTO_EMULATED_FAIL_LAUNCH"),
          number_from("SOTTO_EMULATED_FAIL_CALL"), number_from("SOTTO_EMULATED_LOST_AT")};
}

const std::byte* address(const void* memory) {
  return static_cast<const std::byte*>(memory);
}

// The allocation that holds this address.
template <class Map>
auto holder(Map& memory, const void* at) {
  auto next = memory.upper_bound(address(at));
  if (next == memory.begin()) return memory.end();
  --next;
  return address(at) < next->first + next->second.size() ? next : memory.end();
}

}  // namespace

Device& device() {
  static Device only;
  static const bool is_planned = [] {
    only.set_plan(plan_from_environment());
    return true;
  }();
  (void)is_planned;
  return only;
}

// --- plan and counts ---

void Device::set_plan(const test::EmulatedPlan& plan) {
  const auto locked = lock();
  plan_ = plan;
  counts_ = {};
  lost_ = false;
}

void Device::read_counts(test::EmulatedCounts& counts) const {
  const auto locked = lock();
  counts = counts_;
  counts.live_objects = static_cast<long>(live_objects());
  counts.live_bytes = used_bytes_;
}

Result Device::enter(Kind kind) {
  ++counts_.calls;
  if (kind == Kind::allocation) ++counts_.allocations;
  if (kind == Kind::launch) ++counts_.launches;
  if (counts_.calls == plan_.lost_at) lost_ = true;
  if (lost_) return kLost;
  if (kind == Kind::allocation && counts_.allocations == plan_.fail_allocation) return kOutOfMemory;
  if (kind == Kind::launch && counts_.launches == plan_.fail_launch) return kOutOfResources;
  if (counts_.calls == plan_.fail_call) return kind == Kind::allocation ? kOutOfMemory : kUnknown;
  return kOk;
}

Result Device::violation(const std::string& what, Result answer) {
  if (counts_.violations++ == 0)
    std::snprintf(counts_.first_violation, sizeof counts_.first_violation, "%s", what.c_str());
  return answer;
}

size_t Device::live_objects() const {
  return memory_.size() + pinned_.size() + streams_.size() + events_.size() + modules_.size() +
         graphs_.size();
}

void Device::drop_everything() {
  memory_.clear();
  pinned_.clear();
  streams_.clear();
  events_.clear();
  modules_.clear();
  graphs_.clear();
  used_bytes_ = 0;
}

// --- the context ---

Result Device::retain() {
  ++retained_;
  return kOk;
}

Result Device::give_back() {
  if (retained_ == 0) return violation("a context is given back too often", kInvalidContext);
  if (--retained_ > 0) return kOk;
  if (!lost_) counts_.left_behind += static_cast<long>(live_objects());
  drop_everything();
  return kOk;
}

// --- memory ---

size_t Device::total_bytes() const {
  const auto& devices = test::fake::script().devices;
  return devices.empty() || devices[0].memory_mib == 0 ? kDefaultBytes : devices[0].memory_mib << 20;
}

Result Device::allocate(void** memory, size_t bytes) {
  if (is_capturing()) return violation("memory is allocated during a capture", kCaptureUnsupported);
  if (bytes == 0) return violation("an empty allocation");
  if (bytes > free_bytes()) return kOutOfMemory;
  std::vector<std::byte> block(bytes, kPattern);
  *memory = block.data();
  memory_.emplace(block.data(), std::move(block));
  used_bytes_ += bytes;
  return kOk;
}

Result Device::release(void* memory) {
  if (memory == nullptr) return kOk;
  const auto found = memory_.find(address(memory));
  if (found == memory_.end()) return violation("memory is freed that is none, or not any more");
  if (is_capturing()) return violation("memory is freed during a capture", kCaptureUnsupported);
  used_bytes_ -= found->second.size();
  memory_.erase(found);
  return kOk;
}

Result Device::allocate_pinned(void** memory, size_t bytes) {
  if (is_capturing()) return violation("memory is pinned during a capture", kCaptureUnsupported);
  std::vector<std::byte> block(std::max<size_t>(bytes, 1), kPattern);
  *memory = block.data();
  pinned_.emplace(block.data(), std::move(block));
  return kOk;
}

Result Device::release_pinned(void* memory) {
  return pinned_.erase(address(memory)) == 1
             ? kOk
             : violation("pinned memory is freed that is none, or not any more");
}

bool Device::is_on_device(const void* memory, size_t bytes) const {
  const auto found = holder(memory_, memory);
  return found != memory_.end() && address(memory) + bytes <= found->first + found->second.size();
}

bool Device::touches_device(const void* memory, size_t bytes) const {
  return holder(memory_, memory) != memory_.end() ||
         holder(memory_, address(memory) + bytes - 1) != memory_.end();
}

Result Device::upload(void* to, const void* from, size_t bytes, Stream* stream) {
  if (bytes == 0) return kOk;
  if (!is_on_device(to, bytes)) return violation("an upload goes beyond an allocation");
  if (touches_device(from, bytes)) return violation("an upload comes from the device");
  return run_or_record(stream, [=] { std::memcpy(to, from, bytes); });
}

Result Device::download(void* to, const void* from, size_t bytes, Stream* stream) {
  if (bytes == 0) return kOk;
  if (!is_on_device(from, bytes)) return violation("a download comes from beyond an allocation");
  if (touches_device(to, bytes)) return violation("a download goes to the device");
  return run_or_record(stream, [=] { std::memcpy(to, from, bytes); });
}

Result Device::copy(void* to, const void* from, size_t bytes, Stream* stream) {
  if (bytes == 0) return kOk;
  if (!is_on_device(to, bytes) || !is_on_device(from, bytes))
    return violation("a copy goes beyond an allocation");
  return run_or_record(stream, [=] { std::memmove(to, from, bytes); });
}

Result Device::fill(void* to, size_t pitch, int value, size_t width, size_t height, Stream* stream) {
  if (width == 0 || height == 0) return kOk;
  if (width > pitch && height > 1) return violation("rows to fill overlap");
  if (!is_on_device(to, pitch * (height - 1) + width)) return violation("a fill goes beyond an allocation");
  return run_or_record(stream, [=] {
    for (size_t row = 0; row < height; ++row)
      std::memset(static_cast<std::byte*>(to) + row * pitch, value, width);
  });
}

// --- streams and events ---

template <class Object>
Result Device::destroy(std::map<Object*, std::unique_ptr<Object>>& objects, Object* object,
                       const char* what) {
  return objects.erase(object) == 1
             ? kOk
             : violation(std::string(what) + " is destroyed that is none, or not any more", kInvalidHandle);
}

bool Device::is_capturing() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const auto& entry) {
    return entry.second->is_capturing && entry.second->by == std::this_thread::get_id();
  });
}

Result Device::run_or_record(Stream* stream, Work work) {
  if (!streams_.contains(stream)) return violation("work for a stream that is none", kInvalidHandle);
  if (!stream->is_capturing) {
    work();
    return kOk;
  }
  stream->captured.work.push_back(std::move(work));
  return kOk;
}

Result Device::create_stream(Stream** stream) {
  auto made = std::make_unique<Stream>();
  *stream = made.get();
  streams_.emplace(made.get(), std::move(made));
  return kOk;
}

Result Device::destroy_stream(Stream* stream) {
  return destroy(streams_, stream, "a stream");
}

Result Device::synchronize(Stream* stream) {
  if (!streams_.contains(stream)) return violation("a wait for a stream that is none", kInvalidHandle);
  if (!stream->is_capturing) return kOk;
  stream->is_broken = true;
  return violation("a wait for a stream that is being captured", kCaptureUnsupported);
}

Result Device::create_event(Event** event) {
  auto made = std::make_unique<Event>();
  *event = made.get();
  events_.emplace(made.get(), std::move(made));
  return kOk;
}

Result Device::destroy_event(Event* event) {
  return destroy(events_, event, "an event");
}

Result Device::record_event(Event* event, Stream* stream) {
  if (!events_.contains(event)) return violation("an event that is none", kInvalidHandle);
  return run_or_record(stream, [event] { event->at = std::chrono::steady_clock::now(); });
}

Result Device::synchronize_event(Event* event) {
  return events_.contains(event) ? kOk : violation("an event that is none", kInvalidHandle);
}

Result Device::elapsed(float* milliseconds, Event* from, Event* to) {
  if (!events_.contains(from) || !events_.contains(to))
    return violation("an event that is none", kInvalidHandle);
  *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return kOk;
}

// --- kernels ---

Result Device::load_module(Module** module, const void* image) {
  if (image == nullptr) return violation("a module without an image");
  auto made = std::make_unique<Module>();
  *module = made.get();
  modules_.emplace(made.get(), std::move(made));
  return kOk;
}

Result Device::unload_module(Module* module) {
  return destroy(modules_, module, "a module");
}

Result Device::find_function(void** function, Module* module, const char* name) {
  if (!modules_.contains(module)) return violation("a function of a module that is none", kInvalidHandle);
  const Kernel* kernel = find_kernel(name);
  *function = const_cast<Kernel*>(kernel);
  return kernel != nullptr ? kOk : kNotFound;
}

Result Device::launch(const void* function, const Grid& grid, unsigned threads, size_t shared_bytes,
                      Stream* stream, void** arguments) {
  const Kernel* kernel = static_cast<const Kernel*>(function);
  if (kernel == nullptr) return violation("a launch of no kernel", kInvalidHandle);
  if (modules_.empty()) return violation("a launch of a kernel whose module is gone", kInvalidHandle);
  const std::string name(kernel->name);
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.y > kMostBlocks || grid.z > kMostBlocks)
    return violation(name + " is launched with an impossible grid");
  if (threads != kernel->threads) return violation(name + " is launched with another number of threads");
  if (shared_bytes > kPlainSharedBytes) return violation(name + " is launched with too much shared memory");
  const std::byte* from = static_cast<const std::byte*>(arguments[0]);
  std::vector<std::byte> copied(from, from + kernel->argument_bytes);
  if (streams_.contains(stream)) stream->captured.has_kernels = true;
  return run_or_record(stream, [=, copied = std::move(copied)] { kernel->run(grid, copied.data()); });
}

// --- graphs ---

Result Device::begin_capture(Stream* stream) {
  if (!streams_.contains(stream)) return violation("a capture of a stream that is none", kInvalidHandle);
  if (stream->is_capturing) return violation("a capture inside a capture");
  *stream =
      Stream{.is_capturing = true, .is_broken = false, .by = std::this_thread::get_id(), .captured = {}};
  return kOk;
}

Result Device::end_capture(Stream* stream, Graph** captured) {
  if (!streams_.contains(stream) || !stream->is_capturing)
    return violation("the end of no capture", kInvalidHandle);
  auto made = std::make_unique<Graph>(std::move(stream->captured));
  const bool is_broken = stream->is_broken;
  *stream = Stream{};
  *captured = nullptr;
  if (is_broken) return kCaptureInvalidated;
  *captured = made.get();
  graphs_.emplace(made.get(), std::move(made));
  return kOk;
}

Result Device::instantiate(Graph** ready, Graph* captured) {
  if (!graphs_.contains(captured)) return violation("a graph that is none", kInvalidHandle);
  auto made = std::make_unique<Graph>(*captured);
  *ready = made.get();
  graphs_.emplace(made.get(), std::move(made));
  return kOk;
}

Result Device::launch_graph(Graph* graph, Stream* stream) {
  if (!graphs_.contains(graph)) return violation("a launch of a graph that is none", kInvalidHandle);
  if (!streams_.contains(stream)) return violation("work for a stream that is none", kInvalidHandle);
  if (graph->has_kernels && modules_.empty())
    return violation("a launch of a graph whose kernels are gone", kInvalidHandle);
  ++counts_.graph_launches;
  for (const Work& work : graph->work)
    if (const Result result = run_or_record(stream, work); result != kOk) return result;
  return kOk;
}

Result Device::destroy_graph(Graph* graph) {
  return destroy(graphs_, graph, "a graph");
}

}  // namespace sotto::gpu::emulated
