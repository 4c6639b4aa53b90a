// libamdhip64.so.{5,6,7} with scripted behaviour.
#include "fault/fake_script.h"

namespace {

using namespace sotto::test::fake;

constexpr int kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100, kInvalidDevice = 101;
int current = 0;

const DeviceScript& device_at(int index) {
  return script().devices.at(static_cast<size_t>(index));
}

bool exists(int index) {
  return index >= 0 && static_cast<size_t>(index) < script().devices.size();
}

}  // namespace

FAKE_EXPORT int hipInit(unsigned) {
  misbehave();
  if (script().init_error != 0) return script().init_error;
  return script().devices.empty() ? kNoDevice : kSuccess;
}

FAKE_EXPORT int hipRuntimeGetVersion(int* version) {
  *version = script().version != 0 ? script().version : 60032831;
  return kSuccess;
}

FAKE_EXPORT int hipGetDeviceCount(int* count) {
  *count = static_cast<int>(script().devices.size());
  return *count == 0 ? kNoDevice : kSuccess;
}

FAKE_EXPORT int hipDeviceGet(int* device, int index) {
  *device = index;
  return exists(index) ? kSuccess : kInvalidDevice;
}

FAKE_EXPORT int hipDeviceGetName(char* name, int length, int index) {
  copy_text(device_at(index).name, name, length);
  return kSuccess;
}

FAKE_EXPORT int hipDeviceGetUuid(unsigned char (*uuid)[16], int index) {
  parse_uuid(device_at(index).uuid, *uuid);
  return kSuccess;
}

FAKE_EXPORT int hipDeviceTotalMem(size_t* bytes, int index) {
  *bytes = device_at(index).memory_mib << 20;
  return kSuccess;
}

FAKE_EXPORT int hipDeviceGetPCIBusId(char* text, int length, int index) {
  copy_text(pci_address(index), text, length);
  return kSuccess;
}

// The name first, the architecture at a place that differs between versions, features behind it.
FAKE_EXPORT int hipGetDeviceProperties(char* properties, int index) {
  copy_text(device_at(index).name, properties, 256);
  copy_text(device_at(index).architecture + ":xnack-", properties + 640, 256);
  return kSuccess;
}

FAKE_EXPORT int hipSetDevice(int index) {
  current = index;
  return exists(index) ? kSuccess : kInvalidDevice;
}

FAKE_EXPORT int hipMemGetInfo(size_t* free, size_t* total) {
  *free = device_at(current).free_mib << 20;
  *total = device_at(current).memory_mib << 20;
  return kSuccess;
}

FAKE_EXPORT int hipMalloc(void** pointer, size_t) {
  *pointer = &current;
  return device_at(current).allocation_fails ? kOutOfMemory : kSuccess;
}

FAKE_EXPORT int hipFree(void*) {
  return kSuccess;
}

FAKE_EXPORT const char* hipGetErrorName(int result) {
  return result == kNoDevice      ? "hipErrorNoDevice"
         : result == kOutOfMemory ? "hipErrorOutOfMemory"
                                  : "hipErrorUnknown";
}

FAKE_EXPORT const char* hipGetErrorString(int result) {
  return result == kNoDevice ? "no ROCm-capable device is detected" : "the fake runtime's reason";
}
