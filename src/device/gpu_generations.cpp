#include "device/gpu_generations.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace sotto {
namespace {

struct Generation {
  std::string_view prefix;  // of the architecture
  std::string_view name;
};

// The first prefix that fits counts, so the longer ones come first.
constexpr std::array kGenerations = {
    Generation{"gfx7", "GCN 2"},      Generation{"gfx8", "GCN 3 or 4"}, Generation{"gfx908", "CDNA 1"},
    Generation{"gfx90a", "CDNA 2"},   Generation{"gfx94", "CDNA 3"},    Generation{"gfx950", "CDNA 4"},
    Generation{"gfx90", "Vega"},      Generation{"gfx101", "RDNA 1"},   Generation{"gfx103", "RDNA 2"},
    Generation{"gfx110", "RDNA 3"},   Generation{"gfx115", "RDNA 3.5"}, Generation{"gfx120", "RDNA 4"},
    Generation{"sm_3", "Kepler"},     Generation{"sm_5", "Maxwell"},    Generation{"sm_6", "Pascal"},
    Generation{"sm_75", "Turing"},    Generation{"sm_7", "Volta"},      Generation{"sm_89", "Ada"},
    Generation{"sm_8", "Ampere"},     Generation{"sm_90", "Hopper"},    Generation{"sm_10", "Blackwell"},
    Generation{"sm_11", "Blackwell"}, Generation{"sm_12", "Blackwell"},
};

constexpr std::array<std::string_view, 10> kIntegrated = {"gfx902",  "gfx90c",  "gfx1033", "gfx1035",
                                                          "gfx1036", "gfx1037", "gfx1103", "gfx1150",
                                                          "gfx1151", "gfx1152"};

std::string_view without_features(std::string_view architecture) {
  return architecture.substr(0, architecture.find(':'));
}

}  // namespace

std::string_view generation_name(std::string_view architecture) noexcept {
  const std::string_view chip = without_features(architecture);
  const auto found =
      std::find_if(kGenerations.begin(), kGenerations.end(), [&](const Generation& generation) {
        return chip.substr(0, generation.prefix.size()) == generation.prefix;
      });
  return found == kGenerations.end() ? std::string_view() : found->name;
}

bool is_integrated_architecture(std::string_view architecture) noexcept {
  return std::find(kIntegrated.begin(), kIntegrated.end(), without_features(architecture)) !=
         kIntegrated.end();
}

// Two decimal digits each for minor and stepping, which the name writes as one hexadecimal digit each.
std::string gfx_name(unsigned gfx_target_version) {
  if (gfx_target_version == 0) return {};
  return fmt::format("gfx{}{:x}{:x}", gfx_target_version / 10000, gfx_target_version / 100 % 100,
                     gfx_target_version % 100);
}

std::string sm_name(int major, int minor) {
  return fmt::format("sm_{}{}", major, minor);
}

}  // namespace sotto
