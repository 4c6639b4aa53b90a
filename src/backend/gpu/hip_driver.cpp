#include "backend/gpu/hip_driver.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace sotto::hip {

Driver Driver::open(const std::filesystem::path& path) {
  Driver driver{.library = DynamicLibrary::open(path)};
  const auto fill = [&]<class Function>(Function& function, const char* name) {
    function = driver.library.symbol<Function>(name);
  };
  fill(driver.init, "hipInit");
  fill(driver.runtime_version, "hipRuntimeGetVersion");
  fill(driver.device_count, "hipGetDeviceCount");
  fill(driver.device_get, "hipDeviceGet");
  fill(driver.device_name, "hipDeviceGetName");
  driver.device_uuid = driver.library.find<decltype(device_uuid)>("hipDeviceGetUuid");
  fill(driver.device_total_memory, "hipDeviceTotalMem");
  fill(driver.device_pci_address, "hipDeviceGetPCIBusId");
  driver.device_properties = driver.library.find<decltype(device_properties)>("hipGetDevicePropertiesR0600");
  if (driver.device_properties == nullptr) fill(driver.device_properties, "hipGetDeviceProperties");
  fill(driver.set_device, "hipSetDevice");
  fill(driver.memory_info, "hipMemGetInfo");
  fill(driver.memory_allocate, "hipMalloc");
  fill(driver.memory_free, "hipFree");
  fill(driver.error_name, "hipGetErrorName");
  fill(driver.error_string, "hipGetErrorString");
  return driver;
}

std::string Driver::error_text(Result result) const {
  const char* name = error_name(result);
  const char* text = error_string(result);
  if (name == nullptr) name = "unknown error";
  return text == nullptr ? name : fmt::format("{}: {}", name, text);
}

// The layout of the properties differs between HIP 5, 6 and 7, and the architecture's name lies at another
// place in each. Its form is unmistakable, so it is looked for: in a buffer that is many times larger than
// any of the layouts and starts as zeros.
std::optional<std::string> Driver::architecture(int ordinal) const {
  std::vector<char> properties(32768, '\0');
  if (device_properties(properties.data(), ordinal) != kSuccess) return std::nullopt;
  return find_architecture({properties.data(), properties.size()});
}

std::optional<std::string> find_architecture(std::string_view bytes) {
  constexpr std::string_view kPrefix = "gfx";
  constexpr size_t kFewestDigits = 3, kMostDigits = 5;
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  for (size_t at = bytes.find(kPrefix); at != std::string_view::npos; at = bytes.find(kPrefix, at + 1)) {
    const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(at + kPrefix.size());
    const auto last = std::find_if_not(first, bytes.end(), is_digit);
    const auto digits = static_cast<size_t>(last - first);
    const bool ends = last != bytes.end() && (*last == '\0' || *last == ':');
    if (ends && digits >= kFewestDigits && digits <= kMostDigits)
      return std::string(bytes.substr(at, kPrefix.size() + digits));
  }
  return std::nullopt;
}

}  // namespace sotto::hip
