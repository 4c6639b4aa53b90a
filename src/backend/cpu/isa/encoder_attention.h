// Full attention of one head, in tiles: some queries against a block of keys at a time, with the softmax's
// maximum and sum carried from block to block, so that the scores never leave the first-level caches. Both
// products, queries by keys and weights by values, are the same register-tiled loop. The whole is written
// over a "Math": float32 here, 16-bit fixed point in fixed_attention.h.
#pragma once

#include "backend/cpu/attention_kernels.h"
#include "backend/cpu/isa/vec.h"

namespace sotto::cpu::SOTTO_ISA {

// Register tiles: rows x vectors of sums, filling the 32 (AVX-512) or 16 vector registers.
#if defined(__AVX512F__)
inline constexpr int kQueryRows = 12, kKeyVectors = 2;
inline constexpr int kMixRows = 6, kMixVectors = 4;
#else
inline constexpr int kQueryRows = 6, kKeyVectors = 2;
inline constexpr int kMixRows = 6, kMixVectors = 2;
#endif
inline constexpr size_t kKeyPanel = kKeyVectors * kLanes;  // keys that lie side by side after packing
inline constexpr size_t kKeyBlock = 256;                   // keys per step of the running softmax
static_assert(kKeyBlock % kKeyPanel == 0 && kQueryRows % kMixRows == 0);

inline constexpr size_t round_up(size_t n, size_t step) {
  return (n + step - 1) / step * step;
}

// 2^x to about 4e-7; x below -126 counts as -126. Adding 1.5 * 2^23 rounds x and leaves the integer in the
// low bits, which saves the conversions of exp().
inline Vec exp2(Vec x) {
  const float kRounder = 0x1.8p23f;
  x = max(x, broadcast(-126.0f));
  const Vec shifted = x + kRounder;
  const Vec f = x - (shifted - kRounder);
  Vec p = broadcast(1.112550768e-3f);
  p = fmadd(p, f, broadcast(9.666282525e-3f));
  p = fmadd(p, f, broadcast(5.557400473e-2f));
  p = fmadd(p, f, broadcast(2.402235065e-1f));
  p = fmadd(p, f, broadcast(6.931428306e-1f));
  p = fmadd(p, f, broadcast(1.0f));
  return (Vec)((VecInt)p + ((VecInt)shifted << 23));
}

// A cell is what one lane holds: one float here, a pair of 16-bit values in fixed point.
struct FloatMath {
  using Cell = float;
  using Vector = Vec;
  static constexpr size_t kValuesPerCell = 1;
  static constexpr float kWeightExponent = 0;  // weights are scaled by 2 to this power

  static Vec load_cells(const float* p) { return load(p); }
  static void store_cells(float* p, Vec v) { store(p, v); }
  static Vec spread(float x) { return broadcast(x); }
  static Vec multiply_add(Vec a, Vec b, Vec sum) { return fmadd(a, b, sum); }
  static Vec larger(Vec a, Vec b) { return max(a, b); }
  static Vec value(Vec sum) { return sum; }
  // The first lanes as they are, the others lower than any score.
  static Vec keep_lanes(Vec v, size_t lanes) {
    return SOTTO_ISA::keep_lanes(v, lanes, broadcast(-__builtin_inff()));
  }
  // Stores kLanes weights at position i of a row; returns what was stored.
  static Vec store_weights(float* row, size_t i, Vec weights) {
    store(row + i, weights);
    return weights;
  }
  // Writes one query's cells, `step` apart; returns what turns its scores into exponents of two.
  static float pack_query(const float* query, size_t head, float scale, float /*key_unit*/, float* cells,
                          size_t step) {
    for (size_t d = 0; d < head; ++d) cells[d * step] = query[d] * scale;
    return 1.0f;
  }
  static void pack(const float* keys, const float* values, size_t stride, size_t positions, size_t head,
                   void* packed);
};

// How one head's keys and values lie once packed.
//   units:  what one step of the keys is worth, then the same for each column of values (fixed point only)
//   keys:   panels of kKeyPanel keys, each `depth` x kKeyPanel cells
//   values: a row of `width` cells per kValuesPerCell keys
template <class Math>
struct PackedHead {
  using Cell = typename Math::Cell;
  size_t depth, width, panels, value_rows;

  PackedHead(size_t positions, size_t head)
      : depth((head + Math::kValuesPerCell - 1) / Math::kValuesPerCell),
        width(round_up(head, kLanes)),
        panels((positions + kKeyPanel - 1) / kKeyPanel),
        value_rows((positions + Math::kValuesPerCell - 1) / Math::kValuesPerCell) {}

  size_t unit_count() const { return kLanes + width; }  // keeps what follows on a vector's border
  float* key_unit(void* packed) const { return (float*)packed; }
  const float* key_unit(const void* packed) const { return (const float*)packed; }
  float* value_units(void* packed) const { return (float*)packed + kLanes; }
  const float* value_units(const void* packed) const { return (const float*)packed + kLanes; }
  Cell* keys(void* packed) const { return (Cell*)packed + unit_count(); }
  const Cell* keys(const void* packed) const { return (const Cell*)packed + unit_count(); }
  Cell* values(void* packed) const { return keys(packed) + panels * depth * kKeyPanel; }
  const Cell* values(const void* packed) const { return keys(packed) + panels * depth * kKeyPanel; }
  Cell* key_cells(void* packed, size_t key) const {  // cell d of this key is d * kKeyPanel further
    return keys(packed) + key / kKeyPanel * depth * kKeyPanel + key % kKeyPanel;
  }
  size_t bytes() const {
    return (unit_count() + panels * depth * kKeyPanel + value_rows * width) * sizeof(Cell);
  }
};

inline void FloatMath::pack(const float* keys, const float* values, size_t stride, size_t positions,
                            size_t head, void* packed) {
  const PackedHead<FloatMath> layout(positions, head);
  __builtin_memset(packed, 0, layout.bytes());
  for (size_t key = 0; key < positions; ++key) {
    float* cells = layout.key_cells(packed, key);
    for (size_t d = 0; d < head; ++d) cells[d * kKeyPanel] = keys[key * stride + d];
    __builtin_memcpy(layout.values(packed) + key * layout.width, values + key * stride, head * sizeof(float));
  }
}

// sum = a . b for a tile of registers. Row m's cell at depth k is a[m * kRowStep + k * kDepthStep]; b holds
// kVectors vectors per step of depth.
template <class Math, int kRows, int kVectors, size_t kRowStep, size_t kDepthStep>
inline void multiply_tile(const typename Math::Cell* a, const typename Math::Cell* b, size_t b_step,
                          size_t depth, typename Math::Vector (&sum)[kRows][kVectors]) {
  for (int m = 0; m < kRows; ++m)
    for (int v = 0; v < kVectors; ++v) sum[m][v] = typename Math::Vector{};
  for (size_t k = 0; k < depth; ++k) {
    typename Math::Vector column[kVectors];
    for (int v = 0; v < kVectors; ++v) column[v] = Math::load_cells(b + k * b_step + v * kLanes);
#pragma GCC unroll 12
    for (int m = 0; m < kRows; ++m) {
      const typename Math::Vector left = Math::spread(a[m * kRowStep + k * kDepthStep]);
      for (int v = 0; v < kVectors; ++v) sum[m][v] = Math::multiply_add(left, column[v], sum[m][v]);
    }
  }
}

// kQueryRows queries on their way through the keys.
template <class Math>
class QueryTile {
 public:
  QueryTile(const void* packed, size_t positions, size_t head)
      : layout_(positions, head), packed_(packed), positions_(positions), head_(head) {}

  // Attends `count` <= kQueryRows queries; missing ones are computed as zeros and not written.
  void attend(const float* queries, size_t stride, size_t count, float* out, size_t out_stride) {
    start(queries, stride, count);
    for (size_t first = 0; first < positions_; first += kKeyBlock) {
      const size_t keys = positions_ - first < kKeyBlock ? positions_ - first : kKeyBlock;
      score(first, keys);
      for (int m = 0; m < kQueryRows; ++m) soften(m, keys);
      mix(first, keys);
    }
    for (size_t m = 0; m < count; ++m) finish((int)m, out + m * out_stride);
  }

 private:
  using Cell = typename Math::Cell;
  using Vector = typename Math::Vector;

  void start(const float* queries, size_t stride, size_t count) {
    const float scale = 1.44269504088896341f / __builtin_sqrtf((float)head_);  // exponents of two, not of e
    __builtin_memset(query_, 0, layout_.depth * kQueryRows * sizeof(Cell));
    for (int m = 0; m < kQueryRows; ++m) {
      score_unit_[m] = 0;
      if ((size_t)m < count)
        score_unit_[m] = Math::pack_query(queries + (size_t)m * stride, head_, scale,
                                          *layout_.key_unit(packed_), query_ + m, kQueryRows);
      maximum_[m] = -__builtin_inff();
      sum_[m] = Vec{};
      __builtin_memset(out_[m], 0, layout_.width * sizeof(float));
    }
  }

  // scores = queries . keys for one block.
  void score(size_t first, size_t keys) {
    const size_t panel_cells = layout_.depth * kKeyPanel;
    const Cell* panel = layout_.keys(packed_) + first / kKeyPanel * panel_cells;
    for (size_t key = 0; key < keys; key += kKeyPanel, panel += panel_cells) {
      Vector sum[kQueryRows][kKeyVectors];
      multiply_tile<Math, kQueryRows, kKeyVectors, 1, kQueryRows>(query_, panel, kKeyPanel, layout_.depth,
                                                                  sum);
#pragma GCC unroll 12
      for (int m = 0; m < kQueryRows; ++m)
        for (int v = 0; v < kKeyVectors; ++v) Math::store_cells(&scores_[m][key + v * kLanes], sum[m][v]);
    }
  }

  // One row's scores become weights relative to the largest score so far, in place.
  void soften(int m, size_t keys) {
    Cell* row = scores_[m];
    const size_t whole = keys / kLanes * kLanes, rest = keys - whole;
    // The keys behind the last one were scored as zeros: they must neither be the largest nor weigh anything.
    if (rest > 0) Math::store_cells(row + whole, Math::keep_lanes(Math::load_cells(row + whole), rest));
    Vector best = Math::load_cells(row);
    for (size_t i = kLanes; i < keys; i += kLanes) best = Math::larger(best, Math::load_cells(row + i));
    const float largest = reduce_max(Math::value(best)) * score_unit_[m];
    const float maximum = largest > maximum_[m] ? largest : maximum_[m];
    shrink_[m] = exp2(broadcast(maximum_[m] - maximum))[0];
    maximum_[m] = maximum;
    const Vec unit = broadcast(score_unit_[m]), offset = broadcast(Math::kWeightExponent - maximum);
    Vector sum{};
    for (size_t i = 0; i < whole; i += kLanes)
      sum += Math::store_weights(row, i, exp2(fmadd(Math::value(Math::load_cells(row + i)), unit, offset)));
    if (rest > 0) {
      const Vec last = exp2(fmadd(Math::value(Math::load_cells(row + whole)), unit, offset));
      sum += Math::store_weights(row, whole, keep_lanes(last, rest, Vec{}));
    }
    sum_[m] = fmadd(sum_[m], broadcast(shrink_[m]), Math::value(sum));
  }

  // out = out * shrink + weights . values for one block.
  void mix(size_t first, size_t keys) {
    const Cell* values = layout_.values(packed_) + first / Math::kValuesPerCell * layout_.width;
    const size_t depth = (keys + Math::kValuesPerCell - 1) / Math::kValuesPerCell;
    for (int m = 0; m < kQueryRows; m += kMixRows) {
      size_t column = 0;
      for (; column + kMixVectors * kLanes <= layout_.width; column += kMixVectors * kLanes)
        mix_columns<kMixVectors>(m, column, values + column, depth);
      for (; column < layout_.width; column += kLanes) mix_columns<1>(m, column, values + column, depth);
    }
  }

  template <int kVectors>
  void mix_columns(int first_row, size_t column, const Cell* values, size_t depth) {
    Vector sum[kMixRows][kVectors];
    multiply_tile<Math, kMixRows, kVectors, kKeyBlock, 1>(scores_[first_row], values, layout_.width, depth,
                                                          sum);
#pragma GCC unroll 6
    for (int m = 0; m < kMixRows; ++m) {
      const Vec shrink = broadcast(shrink_[first_row + m]);
      float* out = out_[first_row + m] + column;
      for (int v = 0; v < kVectors; ++v)
        store(out + v * kLanes, fmadd(load(out + v * kLanes), shrink, Math::value(sum[m][v])));
    }
  }

  void finish(int m, float* out) const {
    const Vec inverse = broadcast(1.0f / reduce_add(sum_[m]));
    const float* units = layout_.value_units(packed_);
    for (size_t d = 0; d < head_; d += kLanes) {
      Vec result = load(out_[m] + d) * inverse;
      if constexpr (Math::kValuesPerCell > 1) result *= load(units + d);
      if (d + kLanes <= head_)
        store(out + d, result);
      else
        store_some(out + d, result, head_ - d);
    }
  }

  const PackedHead<Math> layout_;
  const void* const packed_;
  const size_t positions_, head_;
  float score_unit_[kQueryRows], maximum_[kQueryRows], shrink_[kQueryRows];
  alignas(64) Vec sum_[kQueryRows];
  alignas(64) Cell query_[kMaxHead * kQueryRows];  // depth x rows
  alignas(64) Cell scores_[kQueryRows][kKeyBlock];
  alignas(64) float out_[kQueryRows][kMaxHead];
};

template <class Math>
constexpr EncoderAttention encoder_attention() {
  return {
      [](size_t positions, size_t head) { return PackedHead<Math>(positions, head).bytes(); },
      Math::pack,
      [](const float* queries, size_t stride, size_t count, const void* packed, size_t positions, size_t head,
         float* out, size_t out_stride) {
        QueryTile<Math> tile(packed, positions, head);
        for (size_t first = 0; first < count; first += kQueryRows) {
          const size_t rows = count - first < kQueryRows ? count - first : kQueryRows;
          tile.attend(queries + first * stride, stride, rows, out + first * out_stride, out_stride);
        }
      },
  };
}

}  // namespace sotto::cpu::SOTTO_ISA
