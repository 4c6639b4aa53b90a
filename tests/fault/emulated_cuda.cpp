// libcuda.so.1 whose device is the CPU.
#include "fault/emulated/entry.h"

using namespace sotto::gpu::emulated;
using Kind = Device::Kind;

namespace {

thread_local std::vector<void*> contexts;  // the stack of this thread
int one_context;                           // its address is the device's context

const sotto::test::fake::DeviceScript& own_script() {
  static const auto script = device_script("Emulated GPU", "sm_75");
  return script;
}

template <class Do>
Result in_context(Kind kind, Do work) {
  return call(kind, [&] {
    return contexts.empty() || contexts.back() == nullptr || !device().is_retained() ? kInvalidContext
                                                                                     : work();
  });
}
template <class Do>
Result in_context(Do work) {
  return in_context(Kind::other, work);
}

void* pointer(unsigned long long address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

void sotto_emulated_plan(const sotto::test::EmulatedPlan& plan) {
  device().set_plan(plan);
}
void sotto_emulated_counts(sotto::test::EmulatedCounts& counts) {
  device().read_counts(counts);
}

// --- the device ---

FAKE_EXPORT int cuInit(unsigned) {
  return call([] { return kOk; });
}
FAKE_EXPORT int cuDriverGetVersion(int* version) {
  const int scripted = sotto::test::fake::script().version;
  *version = scripted != 0 ? scripted : 12000;
  return kOk;
}
FAKE_EXPORT int cuDeviceGetCount(int* count) {
  *count = 1;
  return kOk;
}
FAKE_EXPORT int cuDeviceGet(int* index, int ordinal) {
  *index = ordinal;
  return call([&] { return ordinal == 0 ? kOk : kNoDevice; });
}
FAKE_EXPORT int cuDeviceGetName(char* name, int length, int) {
  sotto::test::fake::copy_text(own_script().name, name, length);
  return kOk;
}
FAKE_EXPORT int cuDeviceGetUuid(unsigned char (*uuid)[16], int) {
  sotto::test::fake::parse_uuid(own_script().uuid, *uuid);
  return kOk;
}
FAKE_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = device().total_bytes();
  return kOk;
}
FAKE_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  const int capability = std::stoi(own_script().architecture.substr(3));  // after "sm_"
  *value = attribute == 75   ? capability / 10
           : attribute == 76 ? capability % 10
           : attribute == 16 ? 4
           : attribute == 97 ? 64 << 10
                             : 0;
  return kOk;
}
FAKE_EXPORT int cuDeviceGetPCIBusId(char* text, int length, int) {
  sotto::test::fake::copy_text(sotto::test::fake::pci_address(0), text, length);
  return kOk;
}
FAKE_EXPORT int cuGetErrorName(int result, const char** text) {
  static thread_local std::string name;
  name = std::string("CUDA_ERROR_") + error_name(result);
  *text = name.c_str();
  return kOk;
}
FAKE_EXPORT int cuGetErrorString(int result, const char** text) {
  *text = result == kOutOfMemory ? "out of memory" : "the emulated driver's reason";
  return kOk;
}

// --- contexts ---

FAKE_EXPORT int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &one_context;
  return call([] { return device().retain(); });
}
FAKE_EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  const auto locked = device().lock();
  device().enter(Kind::release);
  return device().give_back();
}
FAKE_EXPORT int cuCtxSetCurrent(void* context) {
  if (contexts.empty()) contexts.push_back(context);
  contexts.back() = context;
  return kOk;
}
FAKE_EXPORT int cuCtxPushCurrent_v2(void* context) {
  return call([&] {
    if (context != &one_context) return kInvalidContext;
    contexts.push_back(context);
    return kOk;
  });
}
FAKE_EXPORT int cuCtxPopCurrent_v2(void** context) {
  if (contexts.empty()) return kInvalidContext;
  *context = contexts.back();
  contexts.pop_back();
  return kOk;
}

// --- memory ---

FAKE_EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
  return in_context([&] {
    *free = device().free_bytes();
    *total = device().total_bytes();
    return kOk;
  });
}
FAKE_EXPORT int cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
  void* memory = nullptr;
  const Result result = in_context(Kind::allocation, [&] { return device().allocate(&memory, bytes); });
  *address = reinterpret_cast<unsigned long long>(memory);
  return result;
}
FAKE_EXPORT int cuMemFree_v2(unsigned long long address) {
  return in_context(Kind::release, [&] { return device().release(pointer(address)); });
}
FAKE_EXPORT int cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  return in_context(Kind::allocation, [&] { return device().allocate_pinned(memory, bytes); });
}
FAKE_EXPORT int cuMemFreeHost(void* memory) {
  return in_context(Kind::release, [&] { return device().release_pinned(memory); });
}
FAKE_EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void* from, size_t bytes, Stream* stream) {
  return in_context([&] { return device().upload(pointer(to), from, bytes, stream); });
}
FAKE_EXPORT int cuMemcpyDtoHAsync_v2(void* to, unsigned long long from, size_t bytes, Stream* stream) {
  return in_context([&] { return device().download(to, pointer(from), bytes, stream); });
}
FAKE_EXPORT int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t bytes,
                                     Stream* stream) {
  return in_context([&] { return device().copy(pointer(to), pointer(from), bytes, stream); });
}
FAKE_EXPORT int cuMemsetD2D8Async(unsigned long long to, size_t pitch, unsigned char value, size_t width,
                                  size_t height, Stream* stream) {
  return in_context([&] { return device().fill(pointer(to), pitch, value, width, height, stream); });
}

// --- streams and events ---

FAKE_EXPORT int cuStreamCreate(Stream** stream, unsigned) {
  return in_context(Kind::allocation, [&] { return device().create_stream(stream); });
}
FAKE_EXPORT int cuStreamDestroy_v2(Stream* stream) {
  return in_context(Kind::release, [&] { return device().destroy_stream(stream); });
}
FAKE_EXPORT int cuStreamSynchronize(Stream* stream) {
  return in_context([&] { return device().synchronize(stream); });
}
FAKE_EXPORT int cuEventCreate(Event** event, unsigned) {
  return in_context([&] { return device().create_event(event); });
}
FAKE_EXPORT int cuEventDestroy_v2(Event* event) {
  return in_context(Kind::release, [&] { return device().destroy_event(event); });
}
FAKE_EXPORT int cuEventRecord(Event* event, Stream* stream) {
  return in_context([&] { return device().record_event(event, stream); });
}
FAKE_EXPORT int cuEventSynchronize(Event* event) {
  return in_context([&] { return device().synchronize_event(event); });
}
FAKE_EXPORT int cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  return in_context([&] { return device().elapsed(milliseconds, from, to); });
}

// --- kernels ---

FAKE_EXPORT int cuModuleLoadData(Module** module, const void* image) {
  return in_context(Kind::allocation, [&] { return device().load_module(module, image); });
}
FAKE_EXPORT int cuModuleUnload(Module* module) {
  return in_context(Kind::release, [&] { return device().unload_module(module); });
}
FAKE_EXPORT int cuModuleGetFunction(void** function, Module* module, const char* name) {
  return in_context([&] { return device().find_function(function, module, name); });
}
FAKE_EXPORT int cuFuncSetAttribute(void*, int, int) {
  return in_context([] { return kOk; });
}
FAKE_EXPORT int cuLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned,
                               unsigned, unsigned shared_bytes, Stream* stream, void** arguments, void**) {
  return in_context(Kind::launch, [&] {
    return device().launch(function, {x, y, z}, threads, shared_bytes, stream, arguments);
  });
}

// --- graphs ---

FAKE_EXPORT int cuStreamBeginCapture_v2(Stream* stream, int) {
  return in_context([&] { return device().begin_capture(stream); });
}
FAKE_EXPORT int cuStreamEndCapture(Stream* stream, Graph** captured) {
  return in_context([&] { return device().end_capture(stream, captured); });
}
FAKE_EXPORT int cuGraphDestroy(Graph* captured) {
  return in_context(Kind::release, [&] { return device().destroy_graph(captured); });
}
FAKE_EXPORT int cuGraphInstantiateWithFlags(Graph** graph, Graph* captured, unsigned long long) {
  return in_context(Kind::allocation, [&] { return device().instantiate(graph, captured); });
}
FAKE_EXPORT int cuGraphLaunch(Graph* graph, Stream* stream) {
  return in_context(Kind::launch, [&] { return device().launch_graph(graph, stream); });
}
FAKE_EXPORT int cuGraphExecDestroy(Graph* graph) {
  return in_context(Kind::release, [&] { return device().destroy_graph(graph); });
}
