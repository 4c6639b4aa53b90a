#include "backend/gpu/cuda_driver.h"

#include <fmt/format.h>

namespace sotto::cuda {

Driver Driver::open(const std::filesystem::path& path) {
  Driver driver{.library = DynamicLibrary::open(path)};
  const auto fill = [&]<class Function>(Function& function, const char* name) {
    function = driver.library.symbol<Function>(name);
  };
  fill(driver.init, "cuInit");
  fill(driver.driver_version, "cuDriverGetVersion");
  fill(driver.device_count, "cuDeviceGetCount");
  fill(driver.device_get, "cuDeviceGet");
  fill(driver.device_name, "cuDeviceGetName");
  fill(driver.device_uuid, "cuDeviceGetUuid");
  fill(driver.device_total_memory, "cuDeviceTotalMem_v2");
  fill(driver.device_attribute, "cuDeviceGetAttribute");
  fill(driver.device_pci_address, "cuDeviceGetPCIBusId");
  fill(driver.primary_context_retain, "cuDevicePrimaryCtxRetain");
  fill(driver.primary_context_release, "cuDevicePrimaryCtxRelease_v2");
  fill(driver.context_set_current, "cuCtxSetCurrent");
  fill(driver.memory_info, "cuMemGetInfo_v2");
  fill(driver.memory_allocate, "cuMemAlloc_v2");
  fill(driver.memory_free, "cuMemFree_v2");
  fill(driver.error_name, "cuGetErrorName");
  fill(driver.error_string, "cuGetErrorString");
  return driver;
}

std::string Driver::error_text(Result result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (error_name(result, &name) != kSuccess || name == nullptr) name = "unknown error";
  if (error_string(result, &text) != kSuccess || text == nullptr) return name;
  return fmt::format("{}: {}", name, text);
}

}  // namespace sotto::cuda
