#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "backend/gpu/driver.h"

namespace sotto::gpu {

// The ways to compute: plain code for every chip, tensor cores (sm_80 on), the tensor cores of sm_90 fed by
// its copy engine. Each has its own images.
enum class Path { simt, mma, wgmma };
std::string_view path_name(Path path) noexcept;
std::optional<Path> path_from_name(std::string_view name) noexcept;

// Kernels compiled ahead of time, inside this program. What the build made is in a generated table.
struct Image {
  enum class Form { cubin, ptx, code_object };
  Vendor vendor;
  Form form;
  Path path;
  std::string_view architecture;  // "sm_90a" (only that chip), "sm_80", "gfx1010"
  int minimum_driver;             // CUDA 12000 or HIP 50000000 and later
  std::string_view name;          // for people: "sm_80 cubin (nvcc 13.0)"
  const std::byte* begin;         // PTX ends with a zero byte
  const std::byte* end;

  std::span<const std::byte> bytes() const { return {begin, end}; }
  // From sm_90 on the kernels know how to wait for the one before them.
  bool waits_itself() const noexcept;
};
std::span<const Image> images() noexcept;

// The best image of a path for a chip and a driver: code for this very chip, then for an older one of its
// generation, then the newest PTX that it can take. nullptr: none fits.
const Image* choose_image(std::span<const Image> images, Vendor vendor, std::string_view architecture,
                          int driver_version, Path path) noexcept;

// Why the plain kernels cannot run on this chip with this driver; nothing: they can.
std::optional<std::string> why_no_image(std::span<const Image> images, Vendor vendor,
                                        std::string_view architecture, int driver_version);

}  // namespace sotto::gpu
