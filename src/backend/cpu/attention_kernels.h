#pragma once

#include <cstddef>

namespace sotto::cpu {

inline constexpr size_t kMaxHead = 256;         // values per head that the kernels have room for
inline constexpr size_t kCachePanel = 64;       // keys that lie side by side in a cache
inline constexpr size_t kCachedRowsAtOnce = 4;  // rows that may share one pass over a cache

// Full attention of one head over one window. Keys and values are packed once and then read by every block of
// queries. Rows are `stride` floats apart; `head` is the number of values per row.
struct EncoderAttention {
  size_t (*packed_bytes)(size_t positions, size_t head);
  void (*pack)(const float* keys, const float* values, size_t stride, size_t positions, size_t head,
               void* packed);
  void (*attend)(const float* queries, size_t stride, size_t count, const void* packed, size_t positions,
                 size_t head, float* out, size_t out_stride);
};

// Values per position of a cache's values: a head, rounded up to whole vectors of any instruction set.
inline constexpr size_t cached_value_width(size_t head) {
  return (head + 15) / 16 * 16;
}

// One query that reads a cache.
struct CachedRow {
  const float* query;
  float* out;
  float*
      weights;  // room for the call's most positions, rounded up to kCachePanel; holds the weights afterwards
  size_t positions;  // it attends to [0, positions)
};

// Attention of a few queries over one head of a cache, which holds float32 or float16.
//   keys:   panels of kCachePanel positions; inside a panel, all positions' first values, then all second
//   values, ... values: one position after the other.
// So both are read once, from front to back, and neither needs a sum across lanes.
struct CachedAttention {
  size_t element_bytes;
  void (*store_key)(const float* key, size_t head, size_t position, void* keys);
  void (*store_value)(const float* value, size_t head, size_t position, void* values);
  // At most kCachedRowsAtOnce rows. A row's numbers do not depend on the others.
  void (*attend)(const void* keys, const void* values, size_t head, const CachedRow* rows, size_t count);
};

struct AttentionKernels {
  EncoderAttention encoder_float;
  EncoderAttention encoder_fixed;  // in 16-bit fixed point; null where the chip gains nothing from it
  CachedAttention cached_float;
  CachedAttention cached_half;
};

}  // namespace sotto::cpu
