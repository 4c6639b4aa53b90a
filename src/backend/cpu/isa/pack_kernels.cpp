// Brings activations and weights into the layouts that matrix_kernels.h describes.
#include "backend/cpu/isa/pack_kernels.h"

#include "backend/cpu/isa/int8_dot.h"
#include "backend/cpu/isa/tile.h"
#include "backend/cpu/isa/vec.h"
#include "backend/cpu/matrix_kernels.h"

namespace sotto::cpu::SOTTO_ISA {
namespace {

constexpr float kInt8Max = 127.0f;

size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

// The first `count` of kLanes values; zeros behind them.
Vec load_first(const float* p, size_t count) {
  if (count >= kLanes) return load(p);
  Vec v = {};
  for (size_t i = 0; i < count; ++i) v[i] = p[i];
  return v;
}

// A square of up to kLanes rows and columns, turned: vector c holds column c of all rows.
void load_columns(const float* x, size_t stride, size_t rows, size_t columns, VecInt (&square)[kLanes]) {
  const bool whole = columns >= kLanes;
#pragma GCC unroll 16
  for (size_t r = 0; r < kLanes; ++r) {
    if (r >= rows) {
      square[r] = VecInt{};
    } else {
      square[r] = whole ? load_int(x + r * stride) : (VecInt)load_first(x + r * stride, columns);
    }
  }
  transpose(square);
}

float largest_magnitude(const float* x, size_t count) {
  constexpr int kAtOnce = 4;
  const VecInt no_sign = broadcast_int(0x7fffffff);
  Vec largest[kAtOnce] = {};
  size_t i = 0;
  for (; i + kAtOnce * kLanes <= count; i += kAtOnce * kLanes)
#pragma GCC unroll 4
    for (int j = 0; j < kAtOnce; ++j)
      largest[j] = max(largest[j], (Vec)(load_int(x + i + j * kLanes) & no_sign));
  for (; i < count; i += kLanes)
    largest[0] = max(largest[0], (Vec)((VecInt)load_first(x + i, count - i) & no_sign));
  return reduce_max(max(max(largest[0], largest[1]), max(largest[2], largest[3])));
}

// Symmetric: the largest magnitude becomes 127. A row (almost) of zeros has the scale 0.
struct Int8Scale {
  explicit Int8Scale(float largest) : scale(largest / kInt8Max), factor(kInt8Max / largest) {
    if (largest < 1e-30f) scale = factor = 0;
  }
  float scale, factor;
};

// kLanes groups of four values as signed bytes; zeros behind the first `count` values.
VecInt quantise_groups(const float* x, size_t count, float factor) {
  VecInt parts[4];
#pragma GCC unroll 4
  for (size_t part = 0; part < 4; ++part) {
    const size_t first = part * kLanes;
    Vec values = {};
    if (first < count) values = load_first(x + first, count - first);
    parts[part] = round_to_int(values * factor);
  }
  return pack_bytes(parts);
}

// Four rows by four inputs at a time: such short vectors turn cheaply and fit tiles of every width.
typedef float Quad __attribute__((vector_size(16)));

void pack_four_rows(const float* x, size_t stride, size_t inputs, float* tile, size_t tile_rows) {
  for (size_t i = 0; i < inputs; i += 4, x += 4, tile += 4 * tile_rows) {
    Quad q[4];
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) __builtin_memcpy(&q[r], x + r * stride, sizeof(Quad));
    const Quad low_01 = __builtin_shufflevector(q[0], q[1], 0, 4, 1, 5);
    const Quad low_23 = __builtin_shufflevector(q[2], q[3], 0, 4, 1, 5);
    const Quad high_01 = __builtin_shufflevector(q[0], q[1], 2, 6, 3, 7);
    const Quad high_23 = __builtin_shufflevector(q[2], q[3], 2, 6, 3, 7);
    q[0] = __builtin_shufflevector(low_01, low_23, 0, 1, 4, 5);
    q[1] = __builtin_shufflevector(low_01, low_23, 2, 3, 6, 7);
    q[2] = __builtin_shufflevector(high_01, high_23, 0, 1, 4, 5);
    q[3] = __builtin_shufflevector(high_01, high_23, 2, 3, 6, 7);
#pragma GCC unroll 4
    for (int c = 0; c < 4; ++c) __builtin_memcpy(tile + c * tile_rows, &q[c], sizeof(Quad));
  }
}

}  // namespace

void pack_tile(const float* x, size_t stride, size_t rows, size_t inputs, float* tile) {
  constexpr size_t kBlock = 128;  // inputs of all rows that the first cache holds
  const size_t whole_rows = rows / 4 * 4;
  for (size_t first = 0; first < inputs; first += kBlock) {
    const size_t count = smaller(kBlock, inputs - first), whole = count / 4 * 4;
    const float* from = x + first;
    float* to = tile + first * rows;
    for (size_t r = 0; r < whole_rows; r += 4) pack_four_rows(from + r * stride, stride, whole, to + r, rows);
    for (size_t r = 0; r < rows; ++r)
      for (size_t i = r < whole_rows ? whole : 0; i < count; ++i) to[i * rows + r] = from[r * stride + i];
  }
}

void quantise_tile(const float* x, size_t stride, size_t rows, size_t inputs, void* tile, float* row_scales) {
  constexpr size_t kVecInputs = kLanes * kInt8Group, kBlock = 4 * kVecInputs;
  constexpr size_t kBlockPieces = kBlock / kInt8Group * kInt8Pieces;
  float factors[kInt8Rows];
  for (size_t r = 0; r < rows; ++r) {
    const Int8Scale scale(largest_magnitude(x + r * stride, inputs));
    row_scales[r] = scale.scale;
    factors[r] = scale.factor;
  }
  // Row by row into a small block, then interleaved like floats: only bits are moved.
  int32_t block[kInt8Rows * kBlockPieces];
  auto* to = static_cast<float*>(tile);
  for (size_t first = 0; first < inputs; first += kBlock) {
    const size_t count = smaller(kBlock, inputs - first);
    const size_t pieces = (count + kInt8Group - 1) / kInt8Group * kInt8Pieces;
    for (size_t r = 0; r < rows; ++r)
      for (size_t i = 0; i < count; i += kVecInputs)
        store_pieces(block + r * kBlockPieces + i / kInt8Group * kInt8Pieces,
                     quantise_groups(x + r * stride + first + i, count - i, factors[r]));
    pack_tile(reinterpret_cast<const float*>(block), kBlockPieces, rows, pieces, to);
    to += rows * pieces;
  }
}

namespace {

// Calls put(input, weights of the panel's first kLanes outputs, weights of the others) for every input.
template <class Put>
void for_each_input(const float* weights, size_t count, size_t inputs, Put put) {
  const size_t low_rows = smaller(kLanes, count), high_rows = count - low_rows;
  for (size_t first = 0; first < inputs; first += kLanes) {
    const size_t columns = smaller(kLanes, inputs - first);
    VecInt low[kLanes], high[kLanes];
    load_columns(weights + first, inputs, low_rows, columns, low);
    load_columns(weights + kLanes * inputs + first, inputs, high_rows, columns, high);
    for (size_t c = 0; c < columns; ++c) put(first + c, (Vec)low[c], (Vec)high[c]);
  }
}

}  // namespace

void pack_panel_f32(const float* weights, size_t count, size_t inputs, void* panel, float*, int32_t*) {
  for_each_input(weights, count, inputs, [panel](size_t input, Vec low, Vec high) {
    float* to = static_cast<float*>(panel) + input * kPanel;
    store(to, low);
    store(to + kLanes, high);
  });
}

void pack_panel_f16(const float* weights, size_t count, size_t inputs, void* panel, float*, int32_t*) {
  for_each_input(weights, count, inputs, [panel](size_t input, Vec low, Vec high) {
    uint16_t* to = static_cast<uint16_t*>(panel) + input * kPanel;
    store_half(to, low);
    store_half(to + kLanes, high);
  });
}

void pack_panel_bf16(const float* weights, size_t count, size_t inputs, void* panel, float*, int32_t*) {
  typedef uint32_t Words __attribute__((vector_size(kLanes * 4)));
  for_each_input(weights, count, inputs, [panel](size_t input, Vec low, Vec high) {
    const Words words = ((Words)round_to_bfloat(low) >> 16) | (Words)round_to_bfloat(high);
    store_int(static_cast<uint16_t*>(panel) + input * kPanel, (VecInt)words);
  });
}

void pack_panel_i8(const float* weights, size_t count, size_t inputs, void* panel, float* scales,
                   int32_t* sums) {
  const size_t group_count = (inputs + kInt8Group - 1) / kInt8Group;
  for (size_t output = 0; output < kPanel; output += kLanes) {
    float factors[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      const bool exists = output + i < count;
      const Int8Scale scale(exists ? largest_magnitude(weights + (output + i) * inputs, inputs) : 0);
      scales[output + i] = scale.scale;
      factors[i] = scale.factor;
    }
    VecInt sum = {};
    for (size_t group = 0; group < group_count; group += kLanes) {
      const size_t first = group * kInt8Group;
      VecInt square[kLanes];
      for (size_t i = 0; i < kLanes; ++i)
        square[i] = output + i < count
                        ? quantise_groups(weights + (output + i) * inputs + first, inputs - first, factors[i])
                        : VecInt{};
      transpose(square);
      for (size_t i = 0; i < smaller(kLanes, group_count - group); ++i) {
        store_int(static_cast<int8_t*>(panel) + ((group + i) * kPanel + output) * kInt8Group, square[i]);
        sum = Int8Step(square[i]).add(kInt8Ones, 1, sum);
      }
    }
    store_int(sums + output, sum);
  }
}

void read_output_f32(const void* panel, size_t output, size_t inputs, float, float* out) {
  const auto* from = static_cast<const float*>(panel) + output;
  for (size_t i = 0; i < inputs; ++i) out[i] = from[i * kPanel];
}

void read_output_f16(const void* panel, size_t output, size_t inputs, float, float* out) {
  const auto* from = static_cast<const uint16_t*>(panel) + output;
  for (size_t i = 0; i < inputs; ++i) {
    const uint16_t one[kLanes] = {from[i * kPanel]};
    out[i] = load_half(one)[0];
  }
}

void read_output_bf16(const void* panel, size_t output, size_t inputs, float, float* out) {
  const bool is_high = output >= kLanes;
  const auto* words = static_cast<const uint32_t*>(panel) + (is_high ? output - kLanes : output);
  for (size_t i = 0; i < inputs; ++i) {
    const uint32_t word = words[i * kLanes], bits = is_high ? word & 0xffff0000u : word << 16;
    __builtin_memcpy(out + i, &bits, sizeof bits);
  }
}

void read_output_i8(const void* panel, size_t output, size_t inputs, float scale, float* out) {
  const auto* from = static_cast<const int8_t*>(panel) + output * kInt8Group;
  for (size_t i = 0; i < inputs; ++i)
    out[i] = scale * (float)from[i / kInt8Group * kPanel * kInt8Group + i % kInt8Group];
}

}  // namespace sotto::cpu::SOTTO_ISA
