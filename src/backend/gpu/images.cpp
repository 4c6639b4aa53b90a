#include "backend/gpu/images.h"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>

namespace sotto::gpu {
namespace {

constexpr std::string_view kPathNames[] = {"simt", "mma", "wgmma"};

// "sm_90a" is 90.
int capability_of(std::string_view architecture) {
  constexpr std::string_view kPrefix = "sm_";
  int number = 0;
  if (architecture.substr(0, kPrefix.size()) == kPrefix)
    std::from_chars(architecture.data() + kPrefix.size(), architecture.data() + architecture.size(), number);
  return number;
}

// How well an image suits a chip, whatever the driver; 0: not at all.
int rank(const Image& image, std::string_view architecture) {
  constexpr int kOwnCode = 3000, kGenerationsCode = 2000, kTranslated = 1000;
  if (image.vendor == Vendor::amd) return image.architecture == architecture ? kOwnCode : 0;
  const int chip = capability_of(architecture), made_for = capability_of(image.architecture);
  if (made_for == 0 || made_for > chip) return 0;
  if (image.architecture.back() == 'a') return made_for == chip ? kOwnCode + 1 : 0;
  if (image.form == Image::Form::ptx) return kTranslated + made_for;
  if (made_for == chip) return kOwnCode;
  return made_for / 10 == chip / 10 ? kGenerationsCode + made_for : 0;
}

// "CUDA 12.0" of 12000, "HIP 5.0" of 50000000.
std::string version_text(Vendor vendor, int version) {
  return vendor == Vendor::nvidia ? fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10)
                                  : fmt::format("HIP {}.{}", version / 10000000, version / 100000 % 100);
}

// The driver series that first had this version of CUDA.
std::string needed_driver(Vendor vendor, int version) {
  const std::string text = version_text(vendor, version) + " or later";
  if (vendor == Vendor::amd || (version > 12000 && version < 13000)) return text;
  return fmt::format("{} (driver {})", text, version <= 12000 ? 525 : 580);
}

}  // namespace

bool Image::waits_itself() const noexcept {
  constexpr int kFirst = 90;
  return vendor == Vendor::nvidia && capability_of(architecture) >= kFirst;
}

std::string_view path_name(Path path) noexcept {
  return kPathNames[static_cast<size_t>(path)];
}

std::optional<Path> path_from_name(std::string_view name) noexcept {
  for (const Path path : {Path::simt, Path::mma, Path::wgmma})
    if (path_name(path) == name) return path;
  return std::nullopt;
}

const Image* choose_image(std::span<const Image> images, Vendor vendor, std::string_view architecture,
                          int driver_version, Path path) noexcept {
  const Image* best = nullptr;
  int best_rank = 0;
  for (const Image& image : images) {
    if (image.vendor != vendor || image.path != path || image.minimum_driver > driver_version) continue;
    const int its_rank = rank(image, architecture);
    if (its_rank > best_rank) best = &image, best_rank = its_rank;
  }
  return best;
}

std::optional<std::string> why_no_image(std::span<const Image> images, Vendor vendor,
                                        std::string_view architecture, int driver_version) {
  if (choose_image(images, vendor, architecture, driver_version, Path::simt) != nullptr) return std::nullopt;
  int needed = 0;  // the oldest driver with which one would fit
  std::set<std::string_view> held;
  for (const Image& image : images) {
    if (image.vendor != vendor || image.path != Path::simt) continue;
    held.insert(image.architecture);
    if (rank(image, architecture) > 0 && (needed == 0 || image.minimum_driver < needed))
      needed = image.minimum_driver;
  }
  if (needed != 0)
    return fmt::format("its driver offers {}, and the kernels in this build need {}",
                       version_text(vendor, driver_version), needed_driver(vendor, needed));
  const std::string_view compiler = vendor == Vendor::nvidia ? "nvcc or clang 15" : "clang 15";
  if (held.empty())
    return fmt::format("it was built without {}, so it holds no kernels for {}", compiler,
                       vendor == Vendor::nvidia ? "NVIDIA" : "AMD");
  return fmt::format("it holds kernels for {}, not for {}", fmt::join(held, ", "),
                     architecture.empty() ? "this chip" : architecture);
}

}  // namespace sotto::gpu
