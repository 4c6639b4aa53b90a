#version 450
// Attention inside a window, without ever holding all scores: each invocation has QUERIES queries and goes over the keys
// in tiles, with the softmax rescaled where some keys bring a larger score. A tile of keys and values lies in shared
// memory; with LANES, one key and value in each lane of the subgroup that is the workgroup (see matrix_lanes.comp).
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"
#ifdef LANES
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#include "lanes.glsl"
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
layout(constant_id = 1) const uint HEAD = 64;
layout(constant_id = 2) const uint KEYS = 32;    // of a tile,
layout(constant_id = 3) const uint GROUP = 4;    // a part of them
layout(constant_id = 4) const uint QUERIES = 1;  // of an invocation
layout(constant_id = 5) const uint ALIGNED = 0;  // LANES: keys and values lie in whole blocks of 8
layout(binding = 0, std430) readonly buffer Qkv { ELEMENT qkv[]; };
layout(binding = 1, std430) writeonly buffer Out { ELEMENT result[]; };
layout(push_constant) uniform Call { uint positions, width, qkv_offset, qkv_stride, out_offset, out_stride, first_window; };

#ifdef LANES
#ifdef HALF
layout(binding = 2, std430) readonly buffer Blocks { u64vec2 blocks[]; };  // the same memory
#else
layout(binding = 2, std430) readonly buffer Blocks { u64vec4 blocks[]; };
#endif
#define KEY(k, d) subgroupShuffle(own_key[d], k)  // a tile is one group
#define VALUE(k, d) subgroupShuffle(own_value[d], k)
#else
shared float key_tile[KEYS * HEAD];
shared float value_tile[KEYS * HEAD];
#define KEY(k, d) key_tile[(group + k) * HEAD + d]
#define VALUE(k, d) value_tile[(group + k) * HEAD + d]
#endif

void main() {
  const uint lane = gl_LocalInvocationIndex, head = gl_WorkGroupID.y, window = first_window + gl_WorkGroupID.z;
  const uint first_row = window * positions, column = head * HEAD;
  const uint first_query = gl_WorkGroupID.x * LOCAL * QUERIES + lane;
  float query[QUERIES][HEAD], sums[QUERIES][HEAD], largest[QUERIES], total[QUERIES];
  const float scale = inversesqrt(float(HEAD));
  [[unroll]] for (uint q = 0; q < QUERIES; ++q) {
    const uint row = first_row + min(first_query + q * LOCAL, positions - 1);
    [[unroll]] for (uint d = 0; d < HEAD; ++d) {
      query[q][d] = float(qkv[qkv_offset + row * qkv_stride + column + d]) * scale;
      sums[q][d] = 0;
    }
    largest[q] = -3.0e38;
    total[q] = 0;
  }
  for (uint first = 0; first < positions; first += KEYS) {
    const uint keys = min(KEYS, positions - first);
#ifdef LANES
    float own_key[HEAD], own_value[HEAD];
    const uint own = qkv_offset + (first_row + first + min(lane, keys - 1)) * qkv_stride + column;
    if (ALIGNED != 0) {
      [[unroll]] for (uint block = 0; block < HEAD / 8; ++block) {
        float k[8], v[8];
        unpack(blocks[(own + width) / 8 + block], k);
        unpack(blocks[(own + 2 * width) / 8 + block], v);
        [[unroll]] for (uint i = 0; i < 8; ++i) {
          own_key[block * 8 + i] = k[i];
          own_value[block * 8 + i] = v[i];
        }
      }
    } else {
      [[unroll]] for (uint d = 0; d < HEAD; ++d) {
        own_key[d] = float(qkv[own + width + d]);
        own_value[d] = float(qkv[own + 2 * width + d]);
      }
    }
#else
    barrier();
    for (uint i = lane; i < KEYS * HEAD; i += LOCAL) {
      const uint from = qkv_offset + (first_row + first + min(i / HEAD, keys - 1)) * qkv_stride + column + i % HEAD;
      key_tile[i] = float(qkv[from + width]);
      value_tile[i] = float(qkv[from + 2 * width]);
    }
    barrier();
#endif
    // A few keys at a time, so that the loops over them can be unrolled and their scores stay in registers.
    for (uint group = 0; group < keys; group += GROUP) {
      [[unroll]] for (uint q = 0; q < QUERIES; ++q) {
        float weights[GROUP], new_largest = largest[q];
        [[unroll]] for (uint k = 0; k < GROUP; ++k) {
          float score = 0;
          [[unroll]] for (uint d = 0; d < HEAD; ++d) score = fma(query[q][d], KEY(k, d), score);
          weights[k] = group + k < keys ? score : -3.0e38;
          new_largest = max(new_largest, weights[k]);
        }
        const float shrink = exp(largest[q] - new_largest);
        largest[q] = new_largest;
        total[q] *= shrink;
        [[unroll]] for (uint k = 0; k < GROUP; ++k) {
          weights[k] = group + k < keys ? exp(weights[k] - new_largest) : 0.0;
          total[q] += weights[k];
        }
        [[unroll]] for (uint d = 0; d < HEAD; ++d) {
          float sum = sums[q][d] * shrink;
          [[unroll]] for (uint k = 0; k < GROUP; ++k) sum = fma(weights[k], VALUE(k, d), sum);
          sums[q][d] = sum;
        }
      }
    }
  }
  [[unroll]] for (uint q = 0; q < QUERIES; ++q) {
    const uint position = first_query + q * LOCAL;
    if (position < positions)
      [[unroll]] for (uint d = 0; d < HEAD; ++d)
        result[out_offset + (first_row + position) * out_stride + column + d] = ELEMENT(sums[q][d] / total[q]);
  }
}
