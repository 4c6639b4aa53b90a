// The arithmetic of encoder_attention.h in 16-bit fixed point with 32-bit sums, for chips whose dot-product
// instructions do two such products per lane and cycle. Ranges are chosen so that no sum can overflow:
//   scores: both factors up to sqrt(2^31 / head), and to 2^15
//   mixing: weights up to 2^14, values up to 511, kKeyBlock = 2^8 keys: 2^14 * 511 * 2^8 < 2^31
#pragma once

#include "backend/cpu/isa/encoder_attention.h"

#if defined(__AVX512VNNI__)
namespace sotto::cpu::SOTTO_ISA {

struct FixedMath {
  using Cell = int32_t;
  using Vector = VecInt;
  static constexpr size_t kValuesPerCell = 2;
  static constexpr float kWeightExponent = 14;
  static constexpr float kValueLimit = 511;
  static_assert(kKeyBlock * (size_t{1} << 14) * 511 < (size_t{1} << 31));

  static VecInt load_cells(const int32_t* p) {
    VecInt v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void store_cells(int32_t* p, VecInt v) { __builtin_memcpy(p, &v, sizeof v); }
  static VecInt spread(int32_t x) { return broadcast_int(x); }
  static VecInt multiply_add(VecInt a, VecInt b, VecInt sum) {
    return (VecInt)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
  }
  static VecInt larger(VecInt a, VecInt b) { return (VecInt)_mm512_max_epi32((__m512i)a, (__m512i)b); }
  static VecInt keep_lanes(VecInt v, size_t lanes) {
    return (VecInt)SOTTO_ISA::keep_lanes((Vec)v, lanes, (Vec)broadcast_int(INT32_MIN));
  }
  static Vec value(VecInt sum) { return to_float(sum); }
  static VecInt store_weights(int32_t* row, size_t i, Vec weights) {
    const VecInt rounded = round_to_int(weights);
    _mm256_storeu_si256((__m256i*)((int16_t*)row + i), _mm512_cvtepi32_epi16((__m512i)rounded));
    return rounded;
  }

  static float score_limit(size_t head) {
    const float limit = (float)(int)__builtin_sqrtf(2147483000.0f / (float)head);
    return limit < 32767.0f ? limit : 32767.0f;
  }
  static float pack_query(const float* query, size_t head, float scale, float key_unit, int32_t* cells,
                          size_t step);
  static void pack(const float* keys, const float* values, size_t stride, size_t positions, size_t head,
                   void* packed);

 private:
  static Vec size(Vec v) { return (Vec)((VecInt)v & 0x7fffffff); }
  static float largest(const float* x, size_t count) {
    Vec best{};
    for (size_t i = 0; i < count; i += kLanes) best = max(best, size(load_row(x, i, count)));
    return reduce_max(best);
  }
  static Vec load_row(const float* x, size_t i, size_t count) {
    return i + kLanes <= count ? load(x + i) : load_some(x + i, count - i, 0.0f);
  }
  // Pairs neighbouring values of a row into cells that lie `step` apart.
  static void pack_row(const float* x, size_t count, float inverse_unit, int32_t* cells, size_t step) {
    for (size_t i = 0; i < count; i += kLanes) {
      const VecInt rounded = round_to_int(load_row(x, i, count) * inverse_unit);
      int32_t pairs[kLanes / 2];
      _mm256_storeu_si256((__m256i*)pairs, _mm512_cvtepi32_epi16((__m512i)rounded));
      for (size_t j = 0; j < kLanes / 2 && i + 2 * j < count; ++j) cells[(i / 2 + j) * step] = pairs[j];
    }
  }
  static void pack_keys(const PackedHead<FixedMath>& layout, const float* keys, size_t stride,
                        size_t positions, size_t head, void* packed);
  static void pack_values(const PackedHead<FixedMath>& layout, const float* values, size_t stride,
                          size_t positions, size_t head, void* packed);
};

inline float FixedMath::pack_query(const float* query, size_t head, float scale, float key_unit,
                                   int32_t* cells, size_t step) {
  const float limit = score_limit(head), range = largest(query, head);
  pack_row(query, head, range > 0 ? limit / range : 0.0f, cells, step);
  return range / limit * key_unit * scale;
}

inline void FixedMath::pack_keys(const PackedHead<FixedMath>& layout, const float* keys, size_t stride,
                                 size_t positions, size_t head, void* packed) {
  float range = 0;
  for (size_t key = 0; key < positions; ++key) {
    const float row_range = largest(keys + key * stride, head);
    range = row_range > range ? row_range : range;
  }
  const float limit = score_limit(head), inverse = range > 0 ? limit / range : 0.0f;
  *layout.key_unit(packed) = range / limit;
  for (size_t key = 0; key < positions; ++key)
    pack_row(keys + key * stride, head, inverse, layout.key_cells(packed, key), kKeyPanel);
}

// Each column of values has its own unit.
inline void FixedMath::pack_values(const PackedHead<FixedMath>& layout, const float* values, size_t stride,
                                   size_t positions, size_t head, void* packed) {
  for (size_t d = 0; d < head; d += kLanes) {
    Vec range{};
    for (size_t key = 0; key < positions; ++key)
      range = max(range, size(load_row(values + key * stride, d, head)));
    store(layout.value_units(packed) + d, range / kValueLimit);
    const Vec inverse = range > 0.0f ? kValueLimit / range : Vec{};
    for (size_t key = 0; key < positions; key += 2) {
      const float* row = values + key * stride;
      const VecInt low = round_to_int(load_row(row, d, head) * inverse);
      const VecInt high =
          key + 1 < positions ? round_to_int(load_row(row + stride, d, head) * inverse) : VecInt{};
      store_cells(layout.values(packed) + key / 2 * layout.width + d, (low & 0xffff) | (high << 16));
    }
  }
}

inline void FixedMath::pack(const float* keys, const float* values, size_t stride, size_t positions,
                            size_t head, void* packed) {
  const PackedHead<FixedMath> layout(positions, head);
  __builtin_memset(packed, 0, layout.bytes());
  pack_keys(layout, keys, stride, positions, head, packed);
  pack_values(layout, values, stride, positions, head, packed);
}

}  // namespace sotto::cpu::SOTTO_ISA
#endif
