#include "backend/gpu/driver.h"

#include <algorithm>
#include <iterator>

#include "backend/gpu/vendor_apis.h"

namespace sotto::gpu {

bool is_out_of_memory(Result result) noexcept {
  return result == 2;
}

bool is_lost(Result result) noexcept {
  constexpr Result kLost[] = {
      4,                             // the driver is shutting down
      46,                            // the device is unavailable
      214,                           // an uncorrectable memory error
      700, 702, 709,                 // a wrong address, a launch that took too long, a destroyed context
      714, 715, 716, 717, 718, 719,  // faults of a running kernel
      721};                          // a contained fault
  return std::find(std::begin(kLost), std::end(kLost), result) != std::end(kLost);
}

std::unique_ptr<Driver> open_driver(Vendor vendor, const std::filesystem::path& library, int ordinal) {
  return vendor == Vendor::nvidia ? open_cuda(library, ordinal) : open_hip(library, ordinal);
}

}  // namespace sotto::gpu
