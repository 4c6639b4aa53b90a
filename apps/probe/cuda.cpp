#include <algorithm>

#include <fmt/format.h>

#include "backend/gpu/cuda_driver.h"
#include "device/gpu_generations.h"
#include "probe/questions.h"

namespace sotto::probing {
namespace {

using cuda::Driver;
using cuda::Result;

DriverError refusal(const Driver& driver, const char* step, Result result) {
  return {step, result, driver.error_text(result)};
}

// The chips whose matrix units take float16 and int8: Turing and later. Volta and Pascal's large chip compute
// float16 well without int8 matrices.
void describe_arithmetic(int major, int minor, ProbedDevice& device) {
  const int capability = major * 10 + minor;
  device.float16_storage = device.int8_storage = true;
  device.int8_arithmetic = true;
  device.float16_arithmetic = capability == 60 || capability >= 70;
  device.int8_dot_product = capability >= 61 && capability != 62;
  device.subgroup_size = 32;
}

// Takes the device into use for a moment: a driver may count a device that it cannot serve.
std::optional<DriverError> try_memory(const Driver& driver, cuda::Device handle, ProbedDevice& device) {
  cuda::Context context = nullptr;
  if (const Result result = driver.primary_context_retain(&context, handle); result != cuda::kSuccess)
    return refusal(driver, "cuDevicePrimaryCtxRetain", result);
  std::optional<DriverError> problem;
  size_t free = 0, total = 0;
  cuda::DevicePointer pointer = 0;
  if (const Result result = driver.context_set_current(context); result != cuda::kSuccess) {
    problem = refusal(driver, "cuCtxSetCurrent", result);
  } else if (const Result asked = driver.memory_info(&free, &total); asked != cuda::kSuccess) {
    problem = refusal(driver, "cuMemGetInfo", asked);
  } else if (const Result given = driver.memory_allocate(&pointer, kTrialBytes); given != cuda::kSuccess) {
    problem = refusal(driver, "cuMemAlloc", given);
  } else {
    driver.memory_free(pointer);
  }
  device.memory_free = free;
  driver.primary_context_release(handle);
  return problem;
}

ProbedDevice describe(const Driver& driver, int index) {
  ProbedDevice device{.index = index};
  cuda::Device handle = 0;
  if (const Result result = driver.device_get(&handle, index); result != cuda::kSuccess) {
    device.problem = refusal(driver, "cuDeviceGet", result);
    return device;
  }
  char text[256] = {};
  if (driver.device_name(text, sizeof text - 1, handle) == cuda::kSuccess) device.name = text;
  cuda::Uuid uuid{};
  if (driver.device_uuid(&uuid, handle) == cuda::kSuccess) device.uuid = uuid_text(uuid.bytes);
  char address[64] = {};
  if (driver.device_pci_address(address, sizeof address - 1, handle) == cuda::kSuccess)
    device.pci_address = pci_address_text(address);
  size_t bytes = 0;
  if (driver.device_total_memory(&bytes, handle) == cuda::kSuccess) device.memory_total = bytes;
  int major = 0, minor = 0, integrated = 0;
  driver.device_attribute(&major, cuda::Attribute::compute_major, handle);
  driver.device_attribute(&minor, cuda::Attribute::compute_minor, handle);
  driver.device_attribute(&integrated, cuda::Attribute::integrated, handle);
  device.architecture = sm_name(major, minor);
  device.integrated = integrated != 0;
  describe_arithmetic(major, minor, device);
  device.problem = try_memory(driver, handle, device);
  return device;
}

}  // namespace

ProbeReport ask_cuda(const std::filesystem::path& library) {
  const Driver driver = Driver::open(library);
  ProbeReport report;
  int version = 0;  // known before the driver is initialised, so that one that fails is named
  if (driver.driver_version(&version) == cuda::kSuccess && version > 0) {
    report.api_version = static_cast<uint32_t>(version);
    report.version = fmt::format("{}.{}", version / 1000, version % 1000 / 10);
  }
  int count = 0;
  if (const Result result = driver.init(0); result != cuda::kSuccess) {
    report.error = refusal(driver, "cuInit", result);
  } else if (const Result counted = driver.device_count(&count); counted != cuda::kSuccess) {
    report.error = refusal(driver, "cuDeviceGetCount", counted);
  } else {
    for (int index = 0; index < std::min(count, kMostDevices); ++index)
      report.devices.push_back(describe(driver, index));
  }
  return report;
}

}  // namespace sotto::probing
