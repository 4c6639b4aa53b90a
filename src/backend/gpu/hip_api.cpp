#include <algorithm>

#include "backend/gpu/hip_driver.h"
#include "backend/gpu/vendor_apis.h"
#include "base/error.h"

namespace sotto::gpu {
namespace {

static_assert(hip::kSuccess == kOk);

constexpr int kFirstGoodGraphs = 60000000;  // before HIP 6 a captured graph may lose the order of its nodes

class HipApi final : public Driver {
 public:
  HipApi(const std::filesystem::path& library, int ordinal)
      : driver_(hip::Driver::open(library)), ordinal_(ordinal) {
    fill_functions();
    check(driver_.init(0), "hipInit");
    check(driver_.runtime_version(&version_), "hipRuntimeGetVersion");
    check(driver_.device_get(&device_, ordinal), "hipDeviceGet");
  }

  Vendor vendor() const noexcept override { return Vendor::amd; }
  int version() const noexcept override { return version_; }
  std::string error_text(Result result) const override { return driver_.error_text(result); }

  DeviceFacts facts() const override {
    constexpr int kMultiprocessors = 63;  // hipDeviceAttributeMultiprocessorCount
    char name[256] = {};
    driver_.device_name(name, sizeof name - 1, device_);
    DeviceFacts facts;
    facts.name = name;
    facts.architecture = driver_.architecture(ordinal_).value_or("");
    attribute_(&facts.multiprocessors, kMultiprocessors, device_);
    facts.wave = facts.architecture.rfind("gfx9", 0) == 0 ? 64 : 32;  // as the kernels were compiled
    facts.shared_memory_limit = 64 << 10;
    return facts;
  }

  // The runtime keeps a device in use for as long as the process lives.
  Result open() noexcept override { return kOk; }
  void close() noexcept override {}

  Result enter(int* before) noexcept override {
    if (const Result result = current_device_(before); result != kOk) return result;
    return *before == ordinal_ ? kOk : driver_.set_device(ordinal_);
  }
  void leave(int before) noexcept override {
    if (before != ordinal_) driver_.set_device(before);
  }

  Result memory_info(size_t* free, size_t* total) noexcept override {
    return driver_.memory_info(free, total);
  }
  Result allocate(Address* address, size_t bytes) noexcept override {
    void* memory = nullptr;
    const Result result = driver_.memory_allocate(&memory, bytes);
    *address = reinterpret_cast<Address>(memory);
    return result;
  }
  Result release(Address address) noexcept override { return driver_.memory_free(pointer(address)); }
  Result allocate_pinned(void** memory, size_t bytes) noexcept override {
    return pinned_allocate_(memory, bytes, 0);
  }
  Result release_pinned(void* memory) noexcept override { return pinned_free_(memory); }
  Result upload(Address to, const void* from, size_t bytes, Stream stream) noexcept override {
    return copy_(pointer(to), from, bytes, CopyKind::host_to_device, stream);
  }
  Result download(void* to, Address from, size_t bytes, Stream stream) noexcept override {
    return copy_(to, pointer(from), bytes, CopyKind::device_to_host, stream);
  }
  Result copy(Address to, Address from, size_t bytes, Stream stream) noexcept override {
    return copy_(pointer(to), pointer(from), bytes, CopyKind::device_to_device, stream);
  }
  Result fill(Address to, unsigned char value, size_t width, size_t height, size_t pitch,
              Stream stream) noexcept override {
    return fill_(pointer(to), pitch, value, width, height, stream);
  }

  Result create_stream(Stream* stream) noexcept override {
    constexpr unsigned kNonBlocking = 1;
    return stream_create_(stream, kNonBlocking);
  }
  Result destroy_stream(Stream stream) noexcept override { return stream_destroy_(stream); }
  Result synchronize(Stream stream) noexcept override { return stream_synchronize_(stream); }
  Result create_event(Event* event, bool timed) noexcept override {
    constexpr unsigned kUntimed = 2;
    return event_create_(event, timed ? 0 : kUntimed);
  }
  Result destroy_event(Event event) noexcept override { return event_destroy_(event); }
  Result record_event(Event event, Stream stream) noexcept override { return event_record_(event, stream); }
  Result wait_event(Event event) noexcept override { return event_synchronize_(event); }
  Result elapsed(float* milliseconds, Event from, Event to) noexcept override {
    return event_elapsed_(milliseconds, from, to);
  }

  Result load_module(Module* module, const void* image) noexcept override {
    return module_load_(module, image);
  }
  Result unload_module(Module module) noexcept override { return module_unload_(module); }
  Result find_function(Function* function, Module module, const char* name) noexcept override {
    return module_function_(function, module, name);
  }
  Result allow_shared_memory(Function, size_t) noexcept override {
    return kOk;
  }  // all of it is there unasked
  Result launch(Function function, const Launch& shape, void** arguments, Stream stream) noexcept override {
    return launch_(function, shape.grid_x, shape.grid_y, shape.grid_z, shape.threads, 1, 1,
                   shape.shared_bytes, stream, arguments, nullptr);
  }

  bool has_graphs() const noexcept override {
    return version_ >= kFirstGoodGraphs && capture_begin_ != nullptr && capture_end_ != nullptr &&
           captured_destroy_ != nullptr && graph_instantiate_ != nullptr && graph_launch_ != nullptr &&
           graph_destroy_ != nullptr;
  }
  Result begin_capture(Stream stream) noexcept override {
    constexpr int kThreadLocal = 1;
    return has_graphs() ? capture_begin_(stream, kThreadLocal) : kNotThere;
  }
  Result end_capture(Stream stream, Graph* graph) noexcept override {
    Handle captured = nullptr;
    if (const Result result = capture_end_(stream, &captured); result != kOk) {
      if (captured != nullptr) captured_destroy_(captured);
      return result;
    }
    const Result result = graph_instantiate_(graph, captured, 0);
    captured_destroy_(captured);
    return result;
  }
  Result launch_graph(Graph graph, Stream stream) noexcept override { return graph_launch_(graph, stream); }
  Result destroy_graph(Graph graph) noexcept override { return graph_destroy_(graph); }

 private:
  enum class CopyKind : int { host_to_device = 1, device_to_host = 2, device_to_device = 3 };

  static void* pointer(Address address) noexcept { return reinterpret_cast<void*>(address); }

  void check(Result result, const char* step) const {
    if (result != kOk) throw Error(ErrorCode::device, "{} failed: {}", step, error_text(result));
  }

  void fill_functions() {
    const auto fill = [&]<class F>(F& function, const char* name) {
      function = driver_.library.symbol<F>(name);
    };
    const auto look_for = [&]<class F>(F& function, const char* name) {
      function = driver_.library.find<F>(name);
    };
    fill(current_device_, "hipGetDevice");
    fill(attribute_, "hipDeviceGetAttribute");
    fill(pinned_allocate_, "hipHostMalloc");
    fill(pinned_free_, "hipHostFree");
    fill(copy_, "hipMemcpyAsync");
    fill(fill_, "hipMemset2DAsync");
    fill(stream_create_, "hipStreamCreateWithFlags");
    fill(stream_destroy_, "hipStreamDestroy");
    fill(stream_synchronize_, "hipStreamSynchronize");
    fill(event_create_, "hipEventCreateWithFlags");
    fill(event_destroy_, "hipEventDestroy");
    fill(event_record_, "hipEventRecord");
    fill(event_synchronize_, "hipEventSynchronize");
    fill(event_elapsed_, "hipEventElapsedTime");
    fill(module_load_, "hipModuleLoadData");
    fill(module_unload_, "hipModuleUnload");
    fill(module_function_, "hipModuleGetFunction");
    fill(launch_, "hipModuleLaunchKernel");
    look_for(capture_begin_, "hipStreamBeginCapture");
    look_for(capture_end_, "hipStreamEndCapture");
    look_for(captured_destroy_, "hipGraphDestroy");
    look_for(graph_instantiate_, "hipGraphInstantiateWithFlags");
    look_for(graph_launch_, "hipGraphLaunch");
    look_for(graph_destroy_, "hipGraphExecDestroy");
  }

  hip::Driver driver_;
  const int ordinal_;
  int version_ = 0;
  hip::Device device_ = 0;

  Result (*current_device_)(int* ordinal);
  Result (*attribute_)(int* value, int attribute, hip::Device device);
  Result (*pinned_allocate_)(void**, size_t, unsigned flags);
  Result (*pinned_free_)(void*);
  Result (*copy_)(void* to, const void* from, size_t, CopyKind, Stream);
  Result (*fill_)(void*, size_t pitch, int value, size_t width, size_t height, Stream);
  Result (*stream_create_)(Stream*, unsigned flags);
  Result (*stream_destroy_)(Stream);
  Result (*stream_synchronize_)(Stream);
  Result (*event_create_)(Event*, unsigned flags);
  Result (*event_destroy_)(Event);
  Result (*event_record_)(Event, Stream);
  Result (*event_synchronize_)(Event);
  Result (*event_elapsed_)(float*, Event, Event);
  Result (*module_load_)(Module*, const void*);
  Result (*module_unload_)(Module);
  Result (*module_function_)(Function*, Module, const char*);
  Result (*launch_)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    unsigned shared_bytes, Stream, void** arguments, void** extra);
  Result (*capture_begin_)(Stream, int mode);
  Result (*capture_end_)(Stream, Handle* captured);
  Result (*captured_destroy_)(Handle captured);
  Result (*graph_instantiate_)(Graph*, Handle captured, unsigned long long flags);
  Result (*graph_launch_)(Graph, Stream);
  Result (*graph_destroy_)(Graph);
};

}  // namespace

std::unique_ptr<Driver> open_hip(const std::filesystem::path& library, int ordinal) {
  return std::make_unique<HipApi>(library, ordinal);
}

}  // namespace sotto::gpu
