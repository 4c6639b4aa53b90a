#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sotto {

// What sotto-probe prints and what is cached. Raised whenever a field is added or means something else.
inline constexpr int kProbeVersion = 1;

// Steps of a probe that are no call of the driver.
inline constexpr std::string_view kOpenStep = "open";                 // the loader refused the library
inline constexpr std::string_view kEntryPointsStep = "entry points";  // the library lacks a function

// A refusal of a driver, in its own words.
struct DriverError {
  std::string step;  // one of the above, or the function: "cuInit"
  int code = 0;
  std::string text;  // "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"
};

// One device as its driver describes it.
struct ProbedDevice {
  int index = 0;
  std::string name;
  std::string uuid;          // 8-4-4-4-12 hex digits; empty where the driver has none
  std::string pci_address;   // "0000:03:00.0"; empty where the driver does not tell
  std::string architecture;  // "sm_89", "gfx1010"; Vulkan: empty
  std::string driver;        // Vulkan: the driver below the loader, "radv 22.3.6"
  uint64_t memory_total = 0;
  uint64_t memory_free = 0;  // when it was asked
  bool integrated = false;
  bool software = false;
  bool float16_arithmetic = false;
  bool float16_storage = false;
  bool int8_arithmetic = false;
  bool int8_storage = false;
  bool int8_dot_product = false;
  int subgroup_size = 0;
  std::optional<DriverError> problem;  // why it cannot be used: no context, no memory
};

// What one driver library answered.
struct ProbeReport {
  uint32_t api_version = 0;  // CUDA 12040, HIP 60032831, Vulkan as the API packs it
  std::string version;       // for people: "12.4"
  std::vector<ProbedDevice> devices;
  std::optional<DriverError> error;  // what ended the questions early
};

std::string probe_report_to_json(const ProbeReport& report);
std::optional<ProbeReport> probe_report_from_json(std::string_view text);  // nothing: it is not one

}  // namespace sotto
