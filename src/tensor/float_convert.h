#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto {

// Runs of little-endian 16-bit floats to and from float32. The byte side need not be aligned. Same values on
// every machine: the fast versions are chosen at run time and equal the portable ones bit for bit.
void halves_to_floats(const std::byte* from, size_t count, float* to) noexcept;
void floats_to_halves(const float* from, size_t count, std::byte* to) noexcept;
void bfloats_to_floats(const std::byte* from, size_t count, float* to) noexcept;
void floats_to_bfloats(const float* from, size_t count, std::byte* to) noexcept;

namespace portable {
void halves_to_floats(const std::byte* from, size_t count, float* to) noexcept;
void floats_to_halves(const float* from, size_t count, std::byte* to) noexcept;
}  // namespace portable

}  // namespace sotto
