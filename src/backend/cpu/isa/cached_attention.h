// Attention of a few queries over one head of a cache. Reading the cache is the cost, so all queries of a
// call share each vector that is read; every query still does its own sums in its own, fixed order.
#pragma once

#include "backend/cpu/attention_kernels.h"
#include "backend/cpu/isa/vec.h"

namespace sotto::cpu::SOTTO_ISA {

inline Vec load_cached(const float* p) {
  return load(p);
}
inline Vec load_cached(const uint16_t* p) {
  return load_half(p);
}
inline void store_cached(float* p, Vec v) {
  store(p, v);
}
inline void store_cached(uint16_t* p, Vec v) {
  store_half(p, v);
}

inline constexpr int kPanelVectors = (int)kCachePanel / kLanes;

// Vectors per step when kRows rows go together: enough sums that none waits for the one before it, and few
// enough for the registers.
#if defined(__AVX512F__)
template <int kRows>
inline constexpr int kVectorsAtOnce = kPanelVectors;
#else
template <int kRows>
inline constexpr int kVectorsAtOnce = kRows == 1 ? 8 : 2;
#endif

template <class T>
void store_key(const float* key, size_t head, size_t position, void* keys) {
  T* cells = (T*)keys + position / kCachePanel * kCachePanel * head + position % kCachePanel;
  for (size_t d = 0; d < head; d += kLanes) {
    const size_t lanes = head - d < kLanes ? head - d : kLanes;
    T converted[kLanes];
    store_cached(converted, load_some(key + d, lanes, 0.0f));
    for (size_t i = 0; i < lanes; ++i) cells[(d + i) * kCachePanel] = converted[i];
  }
}

template <class T>
void store_value(const float* value, size_t head, size_t position, void* values) {
  T* cells = (T*)values + position * cached_value_width(head);
  for (size_t d = 0; d < head; d += kLanes)
    store_cached(cells + d, load_some(value + d, head - d < kLanes ? head - d : kLanes, 0.0f));
}

// Scores of kVectors vectors of keys, which start at `keys` and belong to positions [at, ...).
template <class T, int kRows, int kVectors>
inline void score_keys(const T* keys, size_t head, size_t at, float scale, const CachedRow* rows) {
  Vec sum[kRows][kVectors] = {};
  for (size_t d = 0; d < head; ++d) {
    Vec key[kVectors];
    for (int v = 0; v < kVectors; ++v) key[v] = load_cached(keys + d * kCachePanel + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const Vec query = broadcast(rows[r].query[d]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = fmadd(query, key[v], sum[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) store(rows[r].weights + at + v * kLanes, sum[r][v] * scale);
}

// The row's scores become weights that sum to one; positions that only its neighbours see get none.
inline void soften(const CachedRow& row, size_t positions) {
  const float minus_infinity = -__builtin_inff();
  const size_t whole = row.positions / kLanes * kLanes, rest = row.positions - whole;
  float* w = row.weights;
  Vec best = load_some(w + whole, rest, minus_infinity);
  for (size_t i = 0; i < whole; i += kLanes) best = max(best, load(w + i));
  const Vec maximum = broadcast(reduce_max(best));
  const Vec tail = exp(load_some(w + whole, rest, minus_infinity) - maximum);
  Vec sum = load_some((const float*)&tail, rest, 0.0f);
  store_some(w + whole, sum, rest);
  for (size_t i = 0; i < whole; i += kLanes) {
    const Vec e = exp(load(w + i) - maximum);
    store(w + i, e);
    sum += e;
  }
  const float inverse = 1.0f / reduce_add(sum);
  for (size_t i = 0; i < whole; i += kLanes) store(w + i, load(w + i) * inverse);
  for (size_t i = whole; i < row.positions; ++i) w[i] *= inverse;
  for (size_t i = row.positions; i < positions; ++i) w[i] = 0;
}

// kVectors vectors of the output, from column d on.
template <class T, int kRows, int kVectors>
inline void mix_values(const T* values, size_t head, size_t d, size_t positions, const CachedRow* rows) {
  const size_t width = cached_value_width(head);
  Vec sum[kRows][kVectors] = {};
  for (size_t key = 0; key < positions; ++key) {
    Vec value[kVectors];
    for (int v = 0; v < kVectors; ++v) value[v] = load_cached(values + key * width + d + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const Vec weight = broadcast(rows[r].weights[key]);
      for (int v = 0; v < kVectors; ++v) sum[r][v] = fmadd(weight, value[v], sum[r][v]);
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) {
      const size_t at = d + (size_t)v * kLanes;
      if (at + kLanes <= head)
        store(rows[r].out + at, sum[r][v]);
      else if (at < head)
        store_some(rows[r].out + at, sum[r][v], head - at);
    }
}

template <class T, int kRows>
void attend_rows(const T* keys, const T* values, size_t head, const CachedRow* rows) {
  constexpr int kVectors = kVectorsAtOnce<kRows>;
  size_t positions = 0;
  for (int r = 0; r < kRows; ++r) positions = rows[r].positions > positions ? rows[r].positions : positions;
  const float scale = 1.0f / __builtin_sqrtf((float)head);
  for (size_t at = 0; at < positions; at += kVectors * kLanes)
    score_keys<T, kRows, kVectors>(keys + at / kCachePanel * kCachePanel * head + at % kCachePanel, head, at,
                                   scale, rows);
  for (int r = 0; r < kRows; ++r) soften(rows[r], positions);
  size_t d = 0;
  for (; d + kVectors * kLanes <= cached_value_width(head); d += kVectors * kLanes)
    mix_values<T, kRows, kVectors>(values, head, d, positions, rows);
  for (; d < head; d += kLanes) mix_values<T, kRows, 1>(values, head, d, positions, rows);
}

template <class T>
constexpr CachedAttention cached_attention() {
  return {sizeof(T), store_key<T>, store_value<T>,
          [](const void* keys, const void* values, size_t head, const CachedRow* rows, size_t count) {
            const T *k = (const T*)keys, *v = (const T*)values;
            static_assert(kCachedRowsAtOnce == 4);
            if (count == 4) attend_rows<T, 4>(k, v, head, rows);
            if (count == 3) attend_rows<T, 3>(k, v, head, rows);
            if (count == 2) attend_rows<T, 2>(k, v, head, rows);
            if (count == 1) attend_rows<T, 1>(k, v, head, rows);
          }};
}

}  // namespace sotto::cpu::SOTTO_ISA
