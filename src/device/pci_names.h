#pragma once

#include <cstdint>
#include <string>

namespace sotto {

inline constexpr uint16_t kAmdVendor = 0x1002;
inline constexpr uint16_t kNvidiaVendor = 0x10de;
inline constexpr uint16_t kIntelVendor = 0x8086;

struct PciName {
  std::string name;  // "AMD Radeon RX 5600 / 5700 series"; "NVIDIA GPU" where only the vendor is known
  std::string architecture;  // "gfx1010"; empty where the ids do not tell
  std::string generation;    // "RDNA 1", "Ada", "Arc (Battlemage)"; empty where the ids do not tell
};

// What a PCI display device is, from its ids alone.
PciName pci_name(uint16_t vendor, uint16_t device);

}  // namespace sotto
