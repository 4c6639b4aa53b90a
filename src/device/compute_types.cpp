#include "device/compute_types.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "device/messages.h"

namespace sotto {
namespace {

// The number after a prefix, in this base: "sm_89" is 89, "gfx90a" in base 16 is 0x90a; 0 where there is
// none.
int number_after(std::string_view text, std::string_view prefix, int base) {
  if (text.substr(0, prefix.size()) != prefix) return 0;
  int number = 0;
  std::from_chars(text.data() + prefix.size(), text.data() + text.size(), number, base);
  return number;
}

bool contains(const std::vector<ComputeType>& types, ComputeType type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace

std::vector<ComputeType> cuda_compute_types(std::string_view architecture) {
  const int sm = number_after(architecture, "sm_", 10);
  // Before Volta, 16-bit arithmetic is absent or 64 times slower than 32-bit (all but one chip).
  if (sm < 70)
    return sm >= 61 ? std::vector{ComputeType::float32, ComputeType::int8_float32, ComputeType::int8}
                    : std::vector{ComputeType::float32};
  std::vector types{ComputeType::float16, ComputeType::int8_float16};
  if (sm >= 80) types.push_back(ComputeType::bfloat16);
  types.insert(types.end(), {ComputeType::int8_float32, ComputeType::int8, ComputeType::float32});
  return types;
}

std::vector<ComputeType> rocm_compute_types(std::string_view architecture) {
  // The last two digits are hexadecimal (gfx90a), what is before them is decimal (gfx1030): read as
  // hexadecimal, the order is right all the same.
  const int gfx = number_after(architecture, "gfx", 16);
  if (gfx < 0x900) return {ComputeType::float32};
  std::vector types{ComputeType::float16, ComputeType::int8_float16};
  const bool matrix_bf16 =
      gfx >= 0x908 && gfx < 0x1000 && gfx != 0x909 && gfx != 0x90c;  // CDNA, not the Vega APUs
  if (matrix_bf16 || gfx >= 0x1100) types.push_back(ComputeType::bfloat16);
  types.insert(types.end(), {ComputeType::int8_float32, ComputeType::int8, ComputeType::float32});
  return types;
}

std::vector<ComputeType> vulkan_compute_types(bool float16) {
  if (!float16) return {ComputeType::float32, ComputeType::int8_float32, ComputeType::int8};
  return {ComputeType::float16, ComputeType::int8_float16, ComputeType::int8_float32, ComputeType::int8,
          ComputeType::float32};
}

std::vector<ComputeType> cpu_compute_types() {
  return {ComputeType::int8, ComputeType::int8_float32, ComputeType::float32, ComputeType::float16,
          ComputeType::bfloat16};
}

ComputeType choose_compute_type(const Device& device, ComputeType asked) {
  if (asked == ComputeType::automatic) {
    if (device.compute_types.empty())
      throw Error(ErrorCode::internal, "the device {} has no compute type", device.id());
    return device.compute_types.front();
  }
  if (!contains(device.compute_types, asked))
    throw Error(ErrorCode::unsupported, "{}", words::type_not_supported(device, asked));
  return asked;
}

}  // namespace sotto
