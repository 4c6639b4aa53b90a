#include "tensor/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tensor/float_convert.h"

namespace sotto {
namespace {

std::vector<std::byte> all_halves() {
  std::vector<std::byte> bytes(2 * 65536);
  for (unsigned half = 0; half < 65536; ++half) {
    const auto value = static_cast<uint16_t>(half);
    std::memcpy(bytes.data() + 2 * half, &value, 2);
  }
  return bytes;
}

TEST(Half, KnownValues) {
  EXPECT_EQ(half_to_float(0x0000), 0.0f);
  EXPECT_TRUE(std::signbit(half_to_float(0x8000)));
  EXPECT_EQ(half_to_float(0x3c00), 1.0f);
  EXPECT_EQ(half_to_float(0xc000), -2.0f);
  EXPECT_EQ(half_to_float(0x7bff), 65504.0f);
  EXPECT_EQ(half_to_float(0x0400), 0x1p-14f);
  EXPECT_EQ(half_to_float(0x0001), 0x1p-24f);
  EXPECT_EQ(half_to_float(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(half_to_float(0x7c01)));
}

TEST(Half, EveryHalfSurvivesTheWayToFloatAndBack) {
  for (unsigned half = 0; half < 65536; ++half) {
    const float value = half_to_float(static_cast<uint16_t>(half));
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value))));
    else
      ASSERT_EQ(float_to_half(value), half);
  }
}

TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f), 0x3c00);             // half way: to the even one below
  EXPECT_EQ(float_to_half(1.0f + 3 * 0x1p-11f), 0x3c02);         // half way: to the even one above
  EXPECT_EQ(float_to_half(1.0f + 0x1p-11f + 0x1p-20f), 0x3c01);  // a little more than half
  EXPECT_EQ(float_to_half(0x1p-25f), 0x0000);                    // half the smallest
  EXPECT_EQ(float_to_half(0x1.8p-25f), 0x0001);
  EXPECT_EQ(float_to_half(65519.996f), 0x7bff);
  EXPECT_EQ(float_to_half(65520.0f), 0x7c00);
  EXPECT_EQ(float_to_half(-1e30f), 0xfc00);
}

TEST(Half, FastRunsEqualThePortableOnes) {
  const std::vector<std::byte> halves = all_halves();
  std::vector<uint32_t> fast(65536), portable_bits(65536);
  halves_to_floats(halves.data(), 65536, reinterpret_cast<float*>(fast.data()));
  portable::halves_to_floats(halves.data(), 65536, reinterpret_cast<float*>(portable_bits.data()));
  EXPECT_EQ(fast, portable_bits);
}

TEST(Half, FastNarrowingEqualsThePortableOne) {
  std::vector<float> values;
  for (uint32_t high = 0; high < 65536;
       ++high)  // every exponent, and low bits on both sides of the rounding point
    for (const uint32_t low : {0x0000u, 0x0fffu, 0x1000u, 0x1001u, 0x3000u, 0xffffu})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  std::vector<std::byte> fast(2 * values.size()), slow(2 * values.size());
  floats_to_halves(values.data(), values.size(), fast.data());
  portable::floats_to_halves(values.data(), values.size(), slow.data());
  EXPECT_EQ(fast, slow);
}

TEST(Half, RunsOfAnyLengthAndAlignment) {
  const std::vector<std::byte> halves = all_halves();
  for (size_t count = 0; count < 40; ++count)
    for (size_t shift = 0; shift < 3; ++shift) {
      std::vector<std::byte> bytes(shift);
      bytes.insert(bytes.end(), halves.begin() + 2 * 0x3c00, halves.begin() + 2 * (0x3c00 + count));
      std::vector<float> values(count + 1, -1.0f);
      halves_to_floats(bytes.data() + shift, count, values.data());
      for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(values[i], half_to_float(static_cast<uint16_t>(0x3c00 + i)));
      EXPECT_EQ(values[count], -1.0f);
    }
}

TEST(BFloat, KeepsTheUpperHalfAndRounds) {
  EXPECT_EQ(bfloat_to_float(0x3f80), 1.0f);
  EXPECT_EQ(float_to_bfloat(1.0f), 0x3f80);
  EXPECT_EQ(float_to_bfloat(std::bit_cast<float>(0x3f808000u)), 0x3f80);  // half way: even
  EXPECT_EQ(float_to_bfloat(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(float_to_bfloat(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(float_to_bfloat(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bfloat_to_float(float_to_bfloat(std::bit_cast<float>(0x7f800001u)))));
}

TEST(DType, BlocksAreGgmls) {
  EXPECT_EQ(dtype_block_bytes(DType::q4_0), 18u);
  EXPECT_EQ(dtype_block_bytes(DType::q4_1), 20u);
  EXPECT_EQ(dtype_block_bytes(DType::q5_0), 22u);
  EXPECT_EQ(dtype_block_bytes(DType::q5_1), 24u);
  EXPECT_EQ(dtype_block_bytes(DType::q8_0), 34u);
  EXPECT_EQ(dtype_block_values(DType::q8_0), 32u);
  EXPECT_EQ(dtype_block_values(DType::bf16), 1u);
}

}  // namespace
}  // namespace sotto
