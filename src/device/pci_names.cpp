#include "device/pci_names.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "device/gpu_generations.h"

namespace sotto {
namespace {

struct KnownDevice {
  uint16_t device;
  std::string_view architecture;
  std::string_view name;  // without the vendor
};

// One PCI id often stands for several cards that differ in clocks and units only: then the name lists them.
constexpr std::array kAmdDevices = {
    // Polaris
    KnownDevice{0x67df, "gfx803", "Radeon RX 470 / 480 / 570 / 580 / 590"},
    KnownDevice{0x67ef, "gfx803", "Radeon RX 460 / 560"},
    KnownDevice{0x67ff, "gfx803", "Radeon RX 550 / 560"},
    KnownDevice{0x6fdf, "gfx803", "Radeon RX 580 2048SP"},
    // Vega
    KnownDevice{0x6860, "gfx900", "Instinct MI25"},
    KnownDevice{0x6863, "gfx900", "Radeon Vega Frontier Edition"},
    KnownDevice{0x687f, "gfx900", "Radeon RX Vega 56 / 64"},
    KnownDevice{0x66a0, "gfx906", "Instinct MI50 / MI60"},
    KnownDevice{0x66a1, "gfx906", "Instinct MI50 / MI60"},
    KnownDevice{0x66a3, "gfx906", "Radeon Pro Vega II"},
    KnownDevice{0x66af, "gfx906", "Radeon VII"},
    KnownDevice{0x15dd, "gfx902", "Radeon Vega graphics (Raven Ridge)"},
    KnownDevice{0x15d8, "gfx902", "Radeon Vega graphics (Picasso)"},
    KnownDevice{0x1636, "gfx90c", "Radeon graphics (Renoir)"},
    KnownDevice{0x1638, "gfx90c", "Radeon graphics (Cezanne)"},
    KnownDevice{0x164c, "gfx90c", "Radeon graphics (Lucienne)"},
    KnownDevice{0x15e7, "gfx90c", "Radeon graphics (Barcelo)"},
    // CDNA
    KnownDevice{0x738c, "gfx908", "Instinct MI100"},
    KnownDevice{0x738e, "gfx908", "Instinct MI100"},
    KnownDevice{0x7408, "gfx90a", "Instinct MI250X"},
    KnownDevice{0x740c, "gfx90a", "Instinct MI250 / MI250X"},
    KnownDevice{0x740f, "gfx90a", "Instinct MI210"},
    KnownDevice{0x74a0, "gfx942", "Instinct MI300A"},
    KnownDevice{0x74a1, "gfx942", "Instinct MI300X"},
    KnownDevice{0x74a2, "gfx942", "Instinct MI308X"},
    KnownDevice{0x74a5, "gfx942", "Instinct MI325X"},
    KnownDevice{0x75a0, "gfx950", "Instinct MI350X"},
    KnownDevice{0x75a3, "gfx950", "Instinct MI355X"},
    // RDNA 1
    KnownDevice{0x7310, "gfx1010", "Radeon Pro W5700X"},
    KnownDevice{0x7312, "gfx1010", "Radeon Pro W5700"},
    KnownDevice{0x7319, "gfx1010", "Radeon Pro 5700 XT"},
    KnownDevice{0x731b, "gfx1010", "Radeon Pro 5700"},
    KnownDevice{0x731e, "gfx1010", "Radeon RX 5700B / 5700XTB"},
    KnownDevice{0x731f, "gfx1010", "Radeon RX 5600 / 5700 series"},
    KnownDevice{0x7360, "gfx1011", "Radeon Pro 5600M"},
    KnownDevice{0x7362, "gfx1011", "Radeon Pro V520 / V540"},
    KnownDevice{0x7340, "gfx1012", "Radeon RX 5300 / 5500 series"},
    KnownDevice{0x7341, "gfx1012", "Radeon Pro W5500"},
    KnownDevice{0x7347, "gfx1012", "Radeon Pro W5500M"},
    KnownDevice{0x734f, "gfx1012", "Radeon Pro W5300M"},
    // RDNA 2
    KnownDevice{0x73a1, "gfx1030", "Radeon Pro V620"},
    KnownDevice{0x73a2, "gfx1030", "Radeon Pro W6900X"},
    KnownDevice{0x73a3, "gfx1030", "Radeon Pro W6800"},
    KnownDevice{0x73a5, "gfx1030", "Radeon RX 6950 XT"},
    KnownDevice{0x73ab, "gfx1030", "Radeon Pro W6800X"},
    KnownDevice{0x73af, "gfx1030", "Radeon RX 6900 XT"},
    KnownDevice{0x73bf, "gfx1030", "Radeon RX 6800 / 6800 XT / 6900 XT"},
    KnownDevice{0x73df, "gfx1031", "Radeon RX 6700 / 6750 series"},
    KnownDevice{0x73e0, "gfx1032", "Radeon RX 6600M"},
    KnownDevice{0x73e1, "gfx1032", "Radeon Pro W6600M"},
    KnownDevice{0x73e3, "gfx1032", "Radeon Pro W6600"},
    KnownDevice{0x73ef, "gfx1032", "Radeon RX 6650 XT / 6700S / 6800S"},
    KnownDevice{0x73ff, "gfx1032", "Radeon RX 6600 series"},
    KnownDevice{0x7421, "gfx1034", "Radeon Pro W6500M"},
    KnownDevice{0x7422, "gfx1034", "Radeon Pro W6400"},
    KnownDevice{0x7423, "gfx1034", "Radeon Pro W6300"},
    KnownDevice{0x7424, "gfx1034", "Radeon RX 6300"},
    KnownDevice{0x743f, "gfx1034", "Radeon RX 6400 / 6500 XT"},
    KnownDevice{0x163f, "gfx1033", "Radeon graphics (Steam Deck)"},
    KnownDevice{0x1435, "gfx1033", "Radeon graphics (Steam Deck OLED)"},
    KnownDevice{0x1681, "gfx1035", "Radeon 660M / 680M"},
    KnownDevice{0x164e, "gfx1036", "Radeon graphics (Raphael)"},
    KnownDevice{0x13c0, "gfx1036", "Radeon graphics (Granite Ridge)"},
    KnownDevice{0x1506, "gfx1037", "Radeon 610M"},
    // RDNA 3 and 3.5
    KnownDevice{0x7448, "gfx1100", "Radeon Pro W7900"},
    KnownDevice{0x7449, "gfx1100", "Radeon Pro W7800 48GB"},
    KnownDevice{0x744a, "gfx1100", "Radeon Pro W7900 Dual Slot"},
    KnownDevice{0x744c, "gfx1100", "Radeon RX 7900 series"},
    KnownDevice{0x745e, "gfx1100", "Radeon Pro W7800"},
    KnownDevice{0x7460, "gfx1101", "Radeon Pro V710"},
    KnownDevice{0x7470, "gfx1101", "Radeon Pro W7700"},
    KnownDevice{0x747e, "gfx1101", "Radeon RX 7700 / 7800 series"},
    KnownDevice{0x7480, "gfx1102", "Radeon RX 7600 series"},
    KnownDevice{0x7483, "gfx1102", "Radeon RX 7600M"},
    KnownDevice{0x7489, "gfx1102", "Radeon Pro W7500"},
    KnownDevice{0x7499, "gfx1102", "Radeon RX 7300 / 7400 / Pro W7400"},
    KnownDevice{0x15bf, "gfx1103", "Radeon 740M / 760M / 780M"},
    KnownDevice{0x15c8, "gfx1103", "Radeon 740M"},
    KnownDevice{0x1900, "gfx1103", "Radeon 780M"},
    KnownDevice{0x1901, "gfx1103", "Radeon 740M / 760M"},
    KnownDevice{0x150e, "gfx1150", "Radeon 880M / 890M"},
    KnownDevice{0x1586, "gfx1151", "Radeon 8050S / 8060S"},
    KnownDevice{0x1114, "gfx1152", "Radeon 840M / 860M"},
    // RDNA 4
    KnownDevice{0x7590, "gfx1200", "Radeon RX 9060 / 9060 XT"},
    KnownDevice{0x7550, "gfx1201", "Radeon RX 9070 series"},
    KnownDevice{0x7551, "gfx1201", "Radeon AI PRO R9600D / R9700"},
};

constexpr std::array kIntelDevices = {
    KnownDevice{0x5690, "", "Arc A770M"},         KnownDevice{0x5691, "", "Arc A730M"},
    KnownDevice{0x5692, "", "Arc A550M"},         KnownDevice{0x5693, "", "Arc A370M"},
    KnownDevice{0x5694, "", "Arc A350M"},         KnownDevice{0x56a0, "", "Arc A770"},
    KnownDevice{0x56a1, "", "Arc A750"},          KnownDevice{0x56a2, "", "Arc A580"},
    KnownDevice{0x56a5, "", "Arc A380"},          KnownDevice{0x56a6, "", "Arc A310"},
    KnownDevice{0x56c0, "", "Flex 170"},          KnownDevice{0x56c1, "", "Flex 140"},
    KnownDevice{0xe20b, "", "Arc B580"},          KnownDevice{0xe20c, "", "Arc B570"},
    KnownDevice{0xe211, "", "Arc Pro B60"},       KnownDevice{0xe212, "", "Arc Pro B50"},
    KnownDevice{0x7d55, "", "Arc (Meteor Lake)"}, KnownDevice{0x64a0, "", "Arc 140V / 130V"},
};

struct Range {
  uint16_t first, last;
  std::string_view generation;
};

// NVIDIA numbers its chips in blocks.
constexpr std::array kNvidiaRanges = {
    Range{0x0fc0, 0x12ff, "Kepler"},    Range{0x1340, 0x15ef, "Maxwell"},
    Range{0x15f0, 0x15ff, "Pascal"},    Range{0x1600, 0x17ff, "Maxwell"},
    Range{0x1b00, 0x1d7f, "Pascal"},    Range{0x1d80, 0x1dff, "Volta"},
    Range{0x1e00, 0x1fff, "Turing"},    Range{0x2080, 0x20ff, "Ampere"},
    Range{0x2180, 0x21ff, "Turing"},    Range{0x2200, 0x22ff, "Ampere"},
    Range{0x2300, 0x23ff, "Hopper"},    Range{0x2480, 0x25ff, "Ampere"},
    Range{0x2600, 0x28ff, "Ada"},       Range{0x2900, 0x29ff, "Blackwell"},
    Range{0x2b80, 0x2fff, "Blackwell"}, Range{0x3180, 0x31ff, "Blackwell"},
};

constexpr std::array kIntelRanges = {
    Range{0x5690, 0x56cf, "Arc (Alchemist)"},
    Range{0xe200, 0xe22f, "Arc (Battlemage)"},
};

template <class Devices>
const KnownDevice* find_device(const Devices& devices, uint16_t id) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const KnownDevice& known) { return known.device == id; });
  return found == devices.end() ? nullptr : &*found;
}

template <class Ranges>
std::string find_generation(const Ranges& ranges, uint16_t id) {
  const auto found = std::find_if(ranges.begin(), ranges.end(),
                                  [&](const Range& range) { return range.first <= id && id <= range.last; });
  return found == ranges.end() ? std::string() : std::string(found->generation);
}

}  // namespace

PciName pci_name(uint16_t vendor, uint16_t device) {
  switch (vendor) {
    case kAmdVendor: {
      const KnownDevice* known = find_device(kAmdDevices, device);
      if (known == nullptr) return {"AMD GPU", "", ""};
      return {"AMD " + std::string(known->name), std::string(known->architecture),
              std::string(generation_name(known->architecture))};
    }
    case kNvidiaVendor:
      return {"NVIDIA GPU", "", find_generation(kNvidiaRanges, device)};
    case kIntelVendor: {
      const KnownDevice* known = find_device(kIntelDevices, device);
      return {known == nullptr ? "Intel graphics" : "Intel " + std::string(known->name), "",
              find_generation(kIntelRanges, device)};
    }
    default:
      return {"display controller", "", ""};
  }
}

}  // namespace sotto
