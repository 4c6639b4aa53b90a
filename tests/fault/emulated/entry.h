#pragma once

#include "fault/emulated/device.h"
#include "fault/fake_script.h"

// What both emulated drivers' entry points have in common.
namespace sotto::gpu::emulated {

// Counts the call, then does the work unless the plan says otherwise.
template <class Do>
Result call(Device::Kind kind, Do work) {
  const auto locked = device().lock();
  const Result planned = device().enter(kind);
  // What is to be given back is gone even when the answer is an error; only a lost device keeps it.
  if (kind == Device::Kind::release && planned != kOk && planned != kLost) work();
  return planned != kOk ? planned : work();
}
template <class Do>
Result call(Do work) {
  return call(Device::Kind::other, work);
}

inline test::fake::DeviceScript device_script(const char* name, const char* architecture) {
  const auto& devices = test::fake::script().devices;
  if (!devices.empty()) return devices[0];
  const char* chosen = std::getenv("SOTTO_EMULATED_ARCHITECTURE");
  test::fake::DeviceScript made;
  made.name = name;
  made.architecture = chosen != nullptr ? chosen : architecture;
  made.uuid = "00112233-4455-6677-8899-aabbccddeeff";
  return made;
}

inline const char* error_name(Result result) {
  switch (result) {
    case kOk:
      return "SUCCESS";
    case kInvalidValue:
      return "INVALID_VALUE";
    case kOutOfMemory:
      return "OUT_OF_MEMORY";
    case kInvalidHandle:
      return "INVALID_HANDLE";
    case kNotFound:
      return "NOT_FOUND";
    case kLost:
      return "LAUNCH_FAILED";
    default:
      return "UNKNOWN";
  }
}

}  // namespace sotto::gpu::emulated

FAKE_EXPORT void sotto_emulated_plan(const sotto::test::EmulatedPlan& plan);
FAKE_EXPORT void sotto_emulated_counts(sotto::test::EmulatedCounts& counts);
