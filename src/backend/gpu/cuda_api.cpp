#include "backend/gpu/cuda_driver.h"
#include "backend/gpu/vendor_apis.h"
#include "base/error.h"

namespace sotto::gpu {
namespace {

static_assert(cuda::kSuccess == kOk);

// --- what cuLaunchKernelEx takes, as its binary interface has it ---
struct LaunchAttribute {
  enum class Id : int { cluster_dimension = 4, programmatic_serialization = 6 };
  Id id;
  char padding[4];
  union {
    char space[64];
    struct {
      unsigned x, y, z;
    } cluster;
    int allowed;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

class CudaApi final : public Driver {
 public:
  CudaApi(const std::filesystem::path& library, int ordinal) : driver_(cuda::Driver::open(library)) {
    fill_functions();
    check(driver_.init(0), "cuInit");
    check(driver_.driver_version(&version_), "cuDriverGetVersion");
    check(driver_.device_get(&device_, ordinal), "cuDeviceGet");
  }

  Vendor vendor() const noexcept override { return Vendor::nvidia; }
  int version() const noexcept override { return version_; }
  std::string error_text(Result result) const override { return driver_.error_text(result); }

  DeviceFacts facts() const override {
    char name[256] = {};
    driver_.device_name(name, sizeof name - 1, device_);
    DeviceFacts facts;
    facts.name = name;
    facts.capability =
        attribute(cuda::Attribute::compute_major) * 10 + attribute(cuda::Attribute::compute_minor);
    facts.architecture = fmt::format("sm_{}", facts.capability);
    facts.multiprocessors = attribute(cuda::Attribute::multiprocessors);
    facts.shared_memory_limit = static_cast<size_t>(attribute(cuda::Attribute::shared_memory_optin));
    return facts;
  }

  Result open() noexcept override { return driver_.primary_context_retain(&context_, device_); }
  void close() noexcept override { driver_.primary_context_release(device_); }
  Result enter(int*) noexcept override { return context_push_(context_); }
  void leave(int) noexcept override {
    cuda::Context left = nullptr;
    context_pop_(&left);
  }

  Result memory_info(size_t* free, size_t* total) noexcept override {
    return driver_.memory_info(free, total);
  }
  Result allocate(Address* address, size_t bytes) noexcept override {
    return driver_.memory_allocate(address, bytes);
  }
  Result release(Address address) noexcept override { return driver_.memory_free(address); }
  Result allocate_pinned(void** memory, size_t bytes) noexcept override {
    return pinned_allocate_(memory, bytes, 0);
  }
  Result release_pinned(void* memory) noexcept override { return pinned_free_(memory); }
  Result upload(Address to, const void* from, size_t bytes, Stream stream) noexcept override {
    return upload_(to, from, bytes, stream);
  }
  Result download(void* to, Address from, size_t bytes, Stream stream) noexcept override {
    return download_(to, from, bytes, stream);
  }
  Result copy(Address to, Address from, size_t bytes, Stream stream) noexcept override {
    return copy_(to, from, bytes, stream);
  }
  Result fill(Address to, unsigned char value, size_t width, size_t height, size_t pitch,
              Stream stream) noexcept override {
    return fill_(to, pitch, value, width, height, stream);
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
  Result allow_shared_memory(Function function, size_t bytes) noexcept override {
    constexpr int kMaxDynamicSharedBytes = 8;
    return function_set_attribute_(function, kMaxDynamicSharedBytes, static_cast<int>(bytes));
  }

  Result launch(Function function, const Launch& shape, void** arguments, Stream stream) noexcept override {
    if ((shape.overlaps_previous || shape.cluster_x > 1) && launch_extended_ != nullptr)
      return launch_extended(function, shape, arguments, stream);
    return launch_(function, shape.grid_x, shape.grid_y, shape.grid_z, shape.threads, 1, 1,
                   shape.shared_bytes, stream, arguments, nullptr);
  }

  bool has_graphs() const noexcept override { return true; }
  Result begin_capture(Stream stream) noexcept override {
    constexpr int kThreadLocal = 1;  // what other threads do meanwhile is their business
    return capture_begin_(stream, kThreadLocal);
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

  EncodeTensorMap encode_tensor_map() const noexcept override { return encode_tensor_map_; }

 private:
  void check(Result result, const char* step) const {
    if (result != kOk) throw Error(ErrorCode::device, "{} failed: {}", step, error_text(result));
  }

  int attribute(cuda::Attribute which) const {
    int value = 0;
    driver_.device_attribute(&value, which, device_);
    return value;
  }

  Result launch_extended(Function function, const Launch& shape, void** arguments,
                         Stream stream) const noexcept {
    LaunchAttribute attributes[2] = {};
    LaunchConfig config{shape.grid_x,
                        shape.grid_y,
                        shape.grid_z,
                        shape.threads,
                        1,
                        1,
                        shape.shared_bytes,
                        stream,
                        attributes,
                        0};
    if (shape.cluster_x > 1) {
      LaunchAttribute& cluster = attributes[config.attribute_count++];
      cluster.id = LaunchAttribute::Id::cluster_dimension;
      cluster.value.cluster = {shape.cluster_x, 1, 1};
    }
    if (shape.overlaps_previous) {
      LaunchAttribute& serialization = attributes[config.attribute_count++];
      serialization.id = LaunchAttribute::Id::programmatic_serialization;
      serialization.value.allowed = 1;
    }
    return launch_extended_(&config, function, arguments, nullptr);
  }

  void fill_functions() {
    const auto fill = [&]<class F>(F& function, const char* name) {
      function = driver_.library.symbol<F>(name);
    };
    const auto look_for = [&]<class F>(F& function, const char* name) {
      function = driver_.library.find<F>(name);
    };
    fill(context_push_, "cuCtxPushCurrent_v2");
    fill(context_pop_, "cuCtxPopCurrent_v2");
    fill(pinned_allocate_, "cuMemHostAlloc");
    fill(pinned_free_, "cuMemFreeHost");
    fill(upload_, "cuMemcpyHtoDAsync_v2");
    fill(download_, "cuMemcpyDtoHAsync_v2");
    fill(copy_, "cuMemcpyDtoDAsync_v2");
    fill(fill_, "cuMemsetD2D8Async");
    fill(stream_create_, "cuStreamCreate");
    fill(stream_destroy_, "cuStreamDestroy_v2");
    fill(stream_synchronize_, "cuStreamSynchronize");
    fill(event_create_, "cuEventCreate");
    fill(event_destroy_, "cuEventDestroy_v2");
    fill(event_record_, "cuEventRecord");
    fill(event_synchronize_, "cuEventSynchronize");
    fill(event_elapsed_, "cuEventElapsedTime");
    fill(module_load_, "cuModuleLoadData");
    fill(module_unload_, "cuModuleUnload");
    fill(module_function_, "cuModuleGetFunction");
    fill(function_set_attribute_, "cuFuncSetAttribute");
    fill(launch_, "cuLaunchKernel");
    fill(capture_begin_, "cuStreamBeginCapture_v2");
    fill(capture_end_, "cuStreamEndCapture");
    fill(captured_destroy_, "cuGraphDestroy");
    fill(graph_instantiate_, "cuGraphInstantiateWithFlags");
    fill(graph_launch_, "cuGraphLaunch");
    fill(graph_destroy_, "cuGraphExecDestroy");
    look_for(launch_extended_, "cuLaunchKernelEx");
    look_for(encode_tensor_map_, "cuTensorMapEncodeTiled");
  }

  cuda::Driver driver_;
  int version_ = 0;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;

  Result (*context_push_)(cuda::Context);
  Result (*context_pop_)(cuda::Context*);
  Result (*pinned_allocate_)(void**, size_t, unsigned flags);
  Result (*pinned_free_)(void*);
  Result (*upload_)(Address, const void*, size_t, Stream);
  Result (*download_)(void*, Address, size_t, Stream);
  Result (*copy_)(Address, Address, size_t, Stream);
  Result (*fill_)(Address, size_t pitch, unsigned char, size_t width, size_t height, Stream);
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
  Result (*function_set_attribute_)(Function, int attribute, int value);
  Result (*launch_)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                    unsigned shared_bytes, Stream, void** arguments, void** extra);
  Result (*launch_extended_)(const LaunchConfig*, Function, void** arguments, void** extra);
  Result (*capture_begin_)(Stream, int mode);
  Result (*capture_end_)(Stream, Handle* captured);
  Result (*captured_destroy_)(Handle captured);
  Result (*graph_instantiate_)(Graph*, Handle captured, unsigned long long flags);
  Result (*graph_launch_)(Graph, Stream);
  Result (*graph_destroy_)(Graph);
  EncodeTensorMap encode_tensor_map_;
};

}  // namespace

std::unique_ptr<Driver> open_cuda(const std::filesystem::path& library, int ordinal) {
  return std::make_unique<CudaApi>(library, ordinal);
}

}  // namespace sotto::gpu
