#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/format.h>

#include "backend/gpu/hip_driver.h"
#include "device/gpu_generations.h"
#include "probe/questions.h"

namespace sotto::probing {
namespace {

using hip::Driver;
using hip::Result;

DriverError refusal(const Driver& driver, const char* step, Result result) {
  return {step, result, driver.error_text(result)};
}

// ROCm gives sixteen hexadecimal digits as text where others give sixteen bytes; cards without a number give
// zeros.
std::string hip_uuid_text(const hip::Uuid& uuid) {
  const auto is_digit = [](unsigned char byte) { return std::isxdigit(byte) != 0; };
  if (!std::all_of(std::begin(uuid.bytes), std::end(uuid.bytes), is_digit)) return uuid_text(uuid.bytes);
  return std::string(std::begin(uuid.bytes), std::end(uuid.bytes));
}

std::optional<DriverError> try_memory(const Driver& driver, int index, ProbedDevice& device) {
  if (const Result result = driver.set_device(index); result != hip::kSuccess)
    return refusal(driver, "hipSetDevice", result);
  size_t free = 0, total = 0;
  if (const Result result = driver.memory_info(&free, &total); result != hip::kSuccess)
    return refusal(driver, "hipMemGetInfo", result);
  device.memory_free = free;
  void* pointer = nullptr;
  if (const Result result = driver.memory_allocate(&pointer, kTrialBytes); result != hip::kSuccess)
    return refusal(driver, "hipMalloc", result);
  driver.memory_free(pointer);
  return std::nullopt;
}

// Packed float16 came with Vega; dot products of int8 are missing in Vega 10 and in the first RDNA chip.
void describe_arithmetic(ProbedDevice& device) {
  const std::string& chip = device.architecture;
  const bool before_vega = chip.rfind("gfx7", 0) == 0 || chip.rfind("gfx8", 0) == 0;
  device.float16_storage = device.int8_storage = device.int8_arithmetic = true;
  device.float16_arithmetic = !before_vega;
  device.int8_dot_product = !before_vega && chip != "gfx900" && chip != "gfx902" && chip != "gfx909" &&
                            chip != "gfx90c" && chip != "gfx1010";
  device.subgroup_size = chip.rfind("gfx1", 0) == 0 ? 32 : 64;
}

ProbedDevice describe(const Driver& driver, int index) {
  ProbedDevice device{.index = index};
  hip::Device handle = 0;
  if (const Result result = driver.device_get(&handle, index); result != hip::kSuccess) {
    device.problem = refusal(driver, "hipDeviceGet", result);
    return device;
  }
  char text[256] = {};
  if (driver.device_name(text, sizeof text - 1, handle) == hip::kSuccess) device.name = text;
  hip::Uuid uuid{};
  if (driver.device_uuid != nullptr && driver.device_uuid(&uuid, handle) == hip::kSuccess)
    device.uuid = hip_uuid_text(uuid);
  char address[64] = {};
  if (driver.device_pci_address(address, sizeof address - 1, index) == hip::kSuccess)
    device.pci_address = pci_address_text(address);
  size_t bytes = 0;
  if (driver.device_total_memory(&bytes, handle) == hip::kSuccess) device.memory_total = bytes;
  device.architecture = driver.architecture(index).value_or("");
  device.integrated = is_integrated_architecture(device.architecture);
  describe_arithmetic(device);
  device.problem = try_memory(driver, index, device);
  return device;
}

}  // namespace

ProbeReport ask_hip(const std::filesystem::path& library) {
  const Driver driver = Driver::open(library);
  ProbeReport report;
  int version = 0, count = 0;
  const Result ready = driver.init(0);
  if (driver.runtime_version(&version) == hip::kSuccess && version > 0) {
    report.api_version = static_cast<uint32_t>(version);
    report.version = fmt::format("{}.{}.{}", version / 10000000, version / 100000 % 100, version % 100000);
  }
  if (ready != hip::kSuccess) {
    report.error = refusal(driver, "hipInit", ready);
  } else if (const Result counted = driver.device_count(&count); counted != hip::kSuccess) {
    report.error = refusal(driver, "hipGetDeviceCount", counted);
  } else {
    for (int index = 0; index < std::min(count, kMostDevices); ++index)
      report.devices.push_back(describe(driver, index));
  }
  return report;
}

}  // namespace sotto::probing
