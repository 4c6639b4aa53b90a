#pragma once

#include <filesystem>
#include <string>

#include "device/probe_report.h"

namespace sotto::probing {

// What is allocated on each device to see whether it can be used at all.
inline constexpr size_t kTrialBytes = size_t{1} << 20;

// A driver that claims more is not believed.
inline constexpr int kMostDevices = 64;

// Each asks one driver library. What the driver refuses is in the report; they throw only what opening the
// library throws.
ProbeReport ask_cuda(const std::filesystem::path& library);
ProbeReport ask_hip(const std::filesystem::path& library);
ProbeReport ask_vulkan(const std::filesystem::path& library);

// "0a1b2c3d-...": 8-4-4-4-12 digits; empty for all zeros.
std::string uuid_text(const unsigned char (&bytes)[16]);

// "0000:03:00.0" from what drivers write: "0000:03:00.0", "00000000:03:00.0", with capitals.
std::string pci_address_text(std::string text);

}  // namespace sotto::probing
