// Exact products of 8-bit activations and weights, four inputs at a time. Included like vec.h.
#pragma once

#include "backend/cpu/isa/vec.h"

namespace sotto::cpu::SOTTO_ISA {

// How a row's group of four activations is kept in a tile, in 32-bit pieces.
#if defined(__AVX512VNNI__)
// Unsigned: 128 is added to each, and 128 times the sum of the weights is taken off again.
inline constexpr int kInt8Pieces = 1;
inline constexpr int32_t kInt8Offset = 128;
#elif defined(__ARM_NEON)
inline constexpr int kInt8Pieces = 1;
inline constexpr int32_t kInt8Offset = 0;
#else
// As 16-bit numbers, (a0, a2) and (a1, a3): products of 8-bit numbers could overflow in 16 bits.
inline constexpr int kInt8Pieces = 2;
inline constexpr int32_t kInt8Offset = 0;
#endif

#if !defined(__AVX512VNNI__) && !defined(__ARM_NEON)
typedef int16_t VecShort __attribute__((vector_size(kLanes * 4)));
inline VecInt even_bytes(VecInt v) {
  return (VecInt)(((VecShort)v << 8) >> 8);
}
inline VecInt odd_bytes(VecInt v) {
  return (VecInt)((VecShort)v >> 8);
}
inline VecInt multiply_pairs(VecInt a, VecInt b) {
#if defined(__AVX512F__)
  return (VecInt)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (VecInt)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
  return (VecInt)_mm_madd_epi16((__m128i)a, (__m128i)b);
#endif
}
#endif

// 4 x kLanes numbers of at most 127 as bytes: kLanes groups of four, in their order.
inline VecInt pack_bytes(const VecInt (&v)[4]) {
#if defined(__AVX512F__)
  const __m512i low = _mm512_packs_epi32((__m512i)v[0], (__m512i)v[1]);
  const __m512i high = _mm512_packs_epi32((__m512i)v[2], (__m512i)v[3]);
  const VecInt mixed = (VecInt)_mm512_packs_epi16(low, high);
  return __builtin_shufflevector(mixed, mixed, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
#elif defined(__AVX2__)
  const __m256i low = _mm256_packs_epi32((__m256i)v[0], (__m256i)v[1]);
  const __m256i high = _mm256_packs_epi32((__m256i)v[2], (__m256i)v[3]);
  const VecInt mixed = (VecInt)_mm256_packs_epi16(low, high);
  return __builtin_shufflevector(mixed, mixed, 0, 4, 1, 5, 2, 6, 3, 7);
#elif defined(__ARM_NEON)
  const int16x8_t low = vcombine_s16(vqmovn_s32((int32x4_t)v[0]), vqmovn_s32((int32x4_t)v[1]));
  const int16x8_t high = vcombine_s16(vqmovn_s32((int32x4_t)v[2]), vqmovn_s32((int32x4_t)v[3]));
  return (VecInt)vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
#else
  const __m128i low = _mm_packs_epi32((__m128i)v[0], (__m128i)v[1]);
  const __m128i high = _mm_packs_epi32((__m128i)v[2], (__m128i)v[3]);
  return (VecInt)_mm_packs_epi16(low, high);
#endif
}

// Stores kLanes groups of four signed bytes in the form of a tile's row: kLanes x kInt8Pieces numbers.
inline void store_pieces(int32_t* p, VecInt bytes) {
#if defined(__AVX512VNNI__)
  store_int(p, bytes ^ broadcast_int((int32_t)0x80808080u));
#elif defined(__ARM_NEON)
  store_int(p, bytes);
#else
  store_int(p, zip_low(even_bytes(bytes), odd_bytes(bytes)));
  store_int(p + kLanes, zip_high(even_bytes(bytes), odd_bytes(bytes)));
#endif
}

// Four weights of kLanes outputs, ready to be multiplied by any number of rows.
struct Int8Step {
#if defined(__AVX512VNNI__) || defined(__ARM_NEON)
  VecInt weights;
  explicit Int8Step(VecInt bytes) : weights(bytes) {}
#else
  VecInt even, odd;
  explicit Int8Step(VecInt bytes) : even(even_bytes(bytes)), odd(odd_bytes(bytes)) {}
#endif

  // The row's pieces are `distance` apart.
  VecInt add(const int32_t* row, [[maybe_unused]] size_t distance, VecInt sum) const {
#if defined(__AVX512VNNI__)
    return (VecInt)_mm512_dpbusd_epi32((__m512i)sum, (__m512i)broadcast_int(row[0]), (__m512i)weights);
#elif defined(__ARM_FEATURE_DOTPROD)
    return (VecInt)vdotq_s32((int32x4_t)sum, (int8x16_t)weights, (int8x16_t)broadcast_int(row[0]));
#elif defined(__ARM_NEON)
    const int8x16_t a = (int8x16_t)broadcast_int(row[0]), b = (int8x16_t)weights;
    const int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(a), vget_low_s8(b)));
    const int32x4_t high = vpaddlq_s16(vmull_high_s8(a, b));
    return sum + (VecInt)vpaddq_s32(low, high);
#else
    return sum + multiply_pairs(even, broadcast_int(row[0])) +
           multiply_pairs(odd, broadcast_int(row[distance]));
#endif
  }
};

// What `add` takes for four activations of 1 without the offset: it sums the weights.
#if defined(__AVX512VNNI__) || defined(__ARM_NEON)
inline constexpr int32_t kInt8Ones[kInt8Pieces] = {0x01010101};
#else
inline constexpr int32_t kInt8Ones[kInt8Pieces] = {0x00010001, 0x00010001};
#endif

}  // namespace sotto::cpu::SOTTO_ISA
