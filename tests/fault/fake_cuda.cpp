// libcuda.so.1 with scripted behaviour.
#include "fault/fake_script.h"

namespace {

using namespace sotto::test::fake;

constexpr int kSuccess = 0, kInvalid = 1, kOutOfMemory = 2, kNotInitialised = 3;
bool ready = false;
int current = 0;

const DeviceScript* device_at(int index) {
  const auto& devices = script().devices;
  return ready && index >= 0 && static_cast<size_t>(index) < devices.size()
             ? &devices[static_cast<size_t>(index)]
             : nullptr;
}

}  // namespace

FAKE_EXPORT int cuInit(unsigned) {
  misbehave();
  if (script().init_error != 0) return script().init_error;
  ready = true;
  return script().devices.empty() ? 100 : kSuccess;
}

FAKE_EXPORT int cuDriverGetVersion(int* version) {
  *version = script().version != 0 ? script().version : 12040;
  return kSuccess;
}

FAKE_EXPORT int cuDeviceGetCount(int* count) {
  *count = static_cast<int>(script().devices.size());
  return ready ? kSuccess : kNotInitialised;
}

FAKE_EXPORT int cuDeviceGet(int* device, int index) {
  *device = index;
  return device_at(index) != nullptr ? kSuccess : kInvalid;
}

FAKE_EXPORT int cuDeviceGetName(char* name, int length, int index) {
  copy_text(device_at(index)->name, name, length);
  return kSuccess;
}

FAKE_EXPORT int cuDeviceGetUuid(unsigned char (*uuid)[16], int index) {
  parse_uuid(device_at(index)->uuid, *uuid);
  return kSuccess;
}

FAKE_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int index) {
  *bytes = device_at(index)->memory_mib << 20;
  return kSuccess;
}

FAKE_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int index) {
  const int capability = std::stoi(device_at(index)->architecture.substr(3));  // after "sm_"
  *value = attribute == 75 ? capability / 10 : attribute == 76 ? capability % 10 : 0;
  return kSuccess;
}

FAKE_EXPORT int cuDeviceGetPCIBusId(char* text, int length, int index) {
  copy_text(pci_address(index), text, length);
  return kSuccess;
}

FAKE_EXPORT int cuDevicePrimaryCtxRetain(void** context, int index) {
  current = index;
  *context = &current;
  return kSuccess;
}

FAKE_EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
  return kSuccess;
}
FAKE_EXPORT int cuCtxSetCurrent(void*) {
  return kSuccess;
}

FAKE_EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
  *free = device_at(current)->free_mib << 20;
  *total = device_at(current)->memory_mib << 20;
  return kSuccess;
}

FAKE_EXPORT int cuMemAlloc_v2(unsigned long long* pointer, size_t) {
  *pointer = 4096;
  return device_at(current)->allocation_fails ? kOutOfMemory : kSuccess;
}

FAKE_EXPORT int cuMemFree_v2(unsigned long long) {
  return kSuccess;
}

FAKE_EXPORT int cuGetErrorName(int result, const char** text) {
  *text = result == 100            ? "CUDA_ERROR_NO_DEVICE"
          : result == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : result == 803          ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
                                   : "CUDA_ERROR_UNKNOWN";
  return kSuccess;
}

FAKE_EXPORT int cuGetErrorString(int result, const char** text) {
  *text = result == 100 ? "no CUDA-capable device is detected" : "the fake driver's reason";
  return kSuccess;
}
