#pragma once

#include <string>
#include <string_view>

namespace sotto {

// What the people who own a GPU call its architecture: "gfx1010" -> "RDNA 1", "sm_89" -> "Ada". Empty when
// unknown. What follows a colon ("gfx90a:sramecc+:xnack-") does not matter.
std::string_view generation_name(std::string_view architecture) noexcept;

// Whether the architecture is one of AMD's that exist only inside a processor.
bool is_integrated_architecture(std::string_view architecture) noexcept;

// The kernel's number for an AMD architecture: 100100 -> "gfx1010", 90010 -> "gfx90a". Empty for 0 (a CPU).
std::string gfx_name(unsigned gfx_target_version);

// "sm_89" for compute capability 8.9.
std::string sm_name(int major, int minor);

}  // namespace sotto
