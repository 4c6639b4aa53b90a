#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sotto {

// How numbers lie in a model file. The q types are ggml's: blocks of 32 values along a row with their own
// scale.
enum class DType : uint8_t { f32, f16, bf16, i8, q4_0, q4_1, q5_0, q5_1, q8_0 };

std::string_view dtype_name(DType type) noexcept;

// Values per block and bytes per block (1 and the element's size for the plain types).
size_t dtype_block_values(DType type) noexcept;
size_t dtype_block_bytes(DType type) noexcept;

float half_to_float(uint16_t half) noexcept;
uint16_t float_to_half(float value) noexcept;  // rounds to nearest even
float bfloat_to_float(uint16_t value) noexcept;
uint16_t float_to_bfloat(float value) noexcept;  // rounds to nearest even; a NaN stays a NaN

}  // namespace sotto
