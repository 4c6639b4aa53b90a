// libamdhip64.so whose device is the CPU.
#include "fault/emulated/entry.h"

using namespace sotto::gpu::emulated;
using Kind = Device::Kind;

namespace {

thread_local int current = 0;

const sotto::test::fake::DeviceScript& own_script() {
  static const auto script = device_script("Emulated Radeon", "gfx1010");
  return script;
}

}  // namespace

void sotto_emulated_plan(const sotto::test::EmulatedPlan& plan) {
  device().set_plan(plan);
}
void sotto_emulated_counts(sotto::test::EmulatedCounts& counts) {
  device().read_counts(counts);
}

// --- the device ---

FAKE_EXPORT int hipInit(unsigned) {
  return call([] { return kOk; });
}
FAKE_EXPORT int hipRuntimeGetVersion(int* version) {
  const int scripted = sotto::test::fake::script().version;
  *version = scripted != 0 ? scripted : 60032831;
  return kOk;
}
FAKE_EXPORT int hipGetDeviceCount(int* count) {
  *count = 1;
  return kOk;
}
FAKE_EXPORT int hipDeviceGet(int* index, int ordinal) {
  *index = ordinal;
  return call([&] { return ordinal == 0 ? kOk : kNoDevice; });
}
FAKE_EXPORT int hipDeviceGetName(char* name, int length, int) {
  sotto::test::fake::copy_text(own_script().name, name, length);
  return kOk;
}
FAKE_EXPORT int hipDeviceGetUuid(unsigned char (*uuid)[16], int) {
  sotto::test::fake::parse_uuid(own_script().uuid, *uuid);
  return kOk;
}
FAKE_EXPORT int hipDeviceTotalMem(size_t* bytes, int) {
  *bytes = device().total_bytes();
  return kOk;
}
FAKE_EXPORT int hipDeviceGetPCIBusId(char* text, int length, int) {
  sotto::test::fake::copy_text(sotto::test::fake::pci_address(0), text, length);
  return kOk;
}
FAKE_EXPORT int hipGetDevicePropertiesR0600(char* properties, int) {
  constexpr int kSomewhere = 1160;
  sotto::test::fake::copy_text(own_script().architecture, properties + kSomewhere, 256);
  return kOk;
}
FAKE_EXPORT int hipDeviceGetAttribute(int* value, int, int) {
  *value = 4;  // multiprocessors: all that is asked for
  return kOk;
}
FAKE_EXPORT int hipSetDevice(int ordinal) {
  return call([&] {
    current = ordinal;
    return ordinal == 0 ? kOk : kNoDevice;
  });
}
FAKE_EXPORT int hipGetDevice(int* ordinal) {
  *ordinal = current;
  return call([] { return kOk; });
}
FAKE_EXPORT const char* hipGetErrorName(int result) {
  static thread_local std::string name;
  name = std::string("hipError") + error_name(result);
  return name.c_str();
}
FAKE_EXPORT const char* hipGetErrorString(int result) {
  return result == kOutOfMemory ? "out of memory" : "the emulated driver's reason";
}

// --- memory ---

FAKE_EXPORT int hipMemGetInfo(size_t* free, size_t* total) {
  return call([&] {
    *free = device().free_bytes();
    *total = device().total_bytes();
    return kOk;
  });
}
FAKE_EXPORT int hipMalloc(void** memory, size_t bytes) {
  return call(Kind::allocation, [&] { return device().allocate(memory, bytes); });
}
FAKE_EXPORT int hipFree(void* memory) {
  return call(Kind::release, [&] { return device().release(memory); });
}
FAKE_EXPORT int hipHostMalloc(void** memory, size_t bytes, unsigned) {
  return call(Kind::allocation, [&] { return device().allocate_pinned(memory, bytes); });
}
FAKE_EXPORT int hipHostFree(void* memory) {
  return call(Kind::release, [&] { return device().release_pinned(memory); });
}
FAKE_EXPORT int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, Stream* stream) {
  return call([&] {
    return kind == 1   ? device().upload(to, from, bytes, stream)
           : kind == 2 ? device().download(to, from, bytes, stream)
                       : device().copy(to, from, bytes, stream);
  });
}
FAKE_EXPORT int hipMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                                 Stream* stream) {
  return call([&] { return device().fill(to, pitch, value, width, height, stream); });
}

// --- streams and events ---

FAKE_EXPORT int hipStreamCreateWithFlags(Stream** stream, unsigned) {
  return call(Kind::allocation, [&] { return device().create_stream(stream); });
}
FAKE_EXPORT int hipStreamDestroy(Stream* stream) {
  return call(Kind::release, [&] { return device().destroy_stream(stream); });
}
FAKE_EXPORT int hipStreamSynchronize(Stream* stream) {
  return call([&] { return device().synchronize(stream); });
}
FAKE_EXPORT int hipEventCreateWithFlags(Event** event, unsigned) {
  return call([&] { return device().create_event(event); });
}
FAKE_EXPORT int hipEventDestroy(Event* event) {
  return call(Kind::release, [&] { return device().destroy_event(event); });
}
FAKE_EXPORT int hipEventRecord(Event* event, Stream* stream) {
  return call([&] { return device().record_event(event, stream); });
}
FAKE_EXPORT int hipEventSynchronize(Event* event) {
  return call([&] { return device().synchronize_event(event); });
}
FAKE_EXPORT int hipEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  return call([&] { return device().elapsed(milliseconds, from, to); });
}

// --- kernels ---

FAKE_EXPORT int hipModuleLoadData(Module** module, const void* image) {
  return call(Kind::allocation, [&] { return device().load_module(module, image); });
}
FAKE_EXPORT int hipModuleUnload(Module* module) {
  return call(Kind::release, [&] { return device().unload_module(module); });
}
FAKE_EXPORT int hipModuleGetFunction(void** function, Module* module, const char* name) {
  return call([&] { return device().find_function(function, module, name); });
}
FAKE_EXPORT int hipModuleLaunchKernel(void* function, unsigned x, unsigned y, unsigned z, unsigned threads,
                                      unsigned, unsigned, unsigned shared_bytes, Stream* stream,
                                      void** arguments, void**) {
  return call(Kind::launch, [&] {
    return device().launch(function, {x, y, z}, threads, shared_bytes, stream, arguments);
  });
}

// --- graphs ---

FAKE_EXPORT int hipStreamBeginCapture(Stream* stream, int) {
  return call([&] { return device().begin_capture(stream); });
}
FAKE_EXPORT int hipStreamEndCapture(Stream* stream, Graph** captured) {
  return call([&] { return device().end_capture(stream, captured); });
}
FAKE_EXPORT int hipGraphDestroy(Graph* captured) {
  return call(Kind::release, [&] { return device().destroy_graph(captured); });
}
FAKE_EXPORT int hipGraphInstantiateWithFlags(Graph** graph, Graph* captured, unsigned long long) {
  return call(Kind::allocation, [&] { return device().instantiate(graph, captured); });
}
FAKE_EXPORT int hipGraphLaunch(Graph* graph, Stream* stream) {
  return call(Kind::launch, [&] { return device().launch_graph(graph, stream); });
}
FAKE_EXPORT int hipGraphExecDestroy(Graph* graph) {
  return call(Kind::release, [&] { return device().destroy_graph(graph); });
}
