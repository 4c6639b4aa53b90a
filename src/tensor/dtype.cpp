#include "tensor/dtype.h"

#include <array>
#include <bit>

namespace sotto {
namespace {

struct DTypeFacts {
  std::string_view name;
  size_t block_values;
  size_t block_bytes;
};

// In the order of DType. The q blocks: float16 scale, float16 minimum (the _1 types), 4 bytes of fifth bits
// (q5), values.
constexpr std::array<DTypeFacts, 9> kFacts = {{
    {"float32", 1, 4},
    {"float16", 1, 2},
    {"bfloat16", 1, 2},
    {"int8", 1, 1},
    {"q4_0", 32, 2 + 16},
    {"q4_1", 32, 2 + 2 + 16},
    {"q5_0", 32, 2 + 4 + 16},
    {"q5_1", 32, 2 + 2 + 4 + 16},
    {"q8_0", 32, 2 + 32},
}};

const DTypeFacts& facts(DType type) noexcept {
  return kFacts[static_cast<size_t>(type)];
}

}  // namespace

std::string_view dtype_name(DType type) noexcept {
  return facts(type).name;
}
size_t dtype_block_values(DType type) noexcept {
  return facts(type).block_values;
}
size_t dtype_block_bytes(DType type) noexcept {
  return facts(type).block_bytes;
}

float half_to_float(uint16_t half) noexcept {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1f) {  // infinity, or a NaN that is made quiet as the processor's own conversion does
    const uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13) | quiet);
  }
  if (exponent == 0) {  // zero or subnormal: exact in float32
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t float_to_half(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds to 65536 or more
  if (magnitude <
      0x38800000u) {  // below the smallest normal half: the addition rounds to a multiple of 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t round_to_even = 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + round_to_even) >> 13));
}

float bfloat_to_float(uint16_t value) noexcept {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

uint16_t float_to_bfloat(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace sotto
