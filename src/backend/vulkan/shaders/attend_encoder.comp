#version 450
// Attention inside a window, without ever holding all scores: each invocation has one query and goes over the keys in
// tiles, with the softmax rescaled where a tile brings a larger score. A tile of keys and values lies in shared memory;
// with LANES, one key and value in each lane of the subgroup that is the workgroup (see matrix_lanes.comp).
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"
#ifdef LANES
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
layout(constant_id = 1) const uint HEAD = 64;
layout(constant_id = 2) const uint KEYS = 32;  // of a tile,
layout(constant_id = 3) const uint GROUP = 4;  // a part of them
layout(binding = 0, std430) readonly buffer Qkv { ELEMENT qkv[]; };
layout(binding = 1, std430) writeonly buffer Out { ELEMENT result[]; };
layout(push_constant) uniform Call { uint positions, width, qkv_offset, qkv_stride, out_offset, out_stride, first_window; };

#ifdef LANES
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
  const uint position = gl_WorkGroupID.x * LOCAL + lane, row = first_row + min(position, positions - 1);
  float query[HEAD], sums[HEAD];
  const float scale = inversesqrt(float(HEAD));
  [[unroll]] for (uint d = 0; d < HEAD; ++d) {
    query[d] = float(qkv[qkv_offset + row * qkv_stride + column + d]) * scale;
    sums[d] = 0;
  }
  float largest = -3.0e38, total = 0;
  for (uint first = 0; first < positions; first += KEYS) {
    const uint keys = min(KEYS, positions - first);
#ifdef LANES
    float own_key[HEAD], own_value[HEAD];
    const uint own = qkv_offset + (first_row + first + min(lane, keys - 1)) * qkv_stride + column;
    [[unroll]] for (uint d = 0; d < HEAD; ++d) {
      own_key[d] = float(qkv[own + width + d]);
      own_value[d] = float(qkv[own + 2 * width + d]);
    }
#else
    barrier();
    for (uint i = lane; i < KEYS * HEAD; i += LOCAL) {
      const uint key = i / HEAD, from = qkv_offset + (first_row + first + min(key, keys - 1)) * qkv_stride + column + i % HEAD;
      key_tile[i] = float(qkv[from + width]);
      value_tile[i] = float(qkv[from + 2 * width]);
    }
    barrier();
#endif
    // A few keys at a time, so that the loops over them can be unrolled and their scores stay in registers.
    for (uint group = 0; group < keys; group += GROUP) {
      float weights[GROUP], new_largest = largest;
      [[unroll]] for (uint k = 0; k < GROUP; ++k) {
        float score = 0;
        [[unroll]] for (uint d = 0; d < HEAD; ++d) score = fma(query[d], KEY(k, d), score);
        weights[k] = group + k < keys ? score : -3.0e38;
        new_largest = max(new_largest, weights[k]);
      }
      const float shrink = exp(largest - new_largest);
      largest = new_largest;
      total *= shrink;
      [[unroll]] for (uint k = 0; k < GROUP; ++k) {
        weights[k] = group + k < keys ? exp(weights[k] - largest) : 0.0;
        total += weights[k];
      }
      [[unroll]] for (uint d = 0; d < HEAD; ++d) {
        float sum = sums[d] * shrink;
        [[unroll]] for (uint k = 0; k < GROUP; ++k) sum = fma(weights[k], VALUE(k, d), sum);
        sums[d] = sum;
      }
    }
  }
  if (position >= positions) return;
  [[unroll]] for (uint d = 0; d < HEAD; ++d)
    result[out_offset + row * out_stride + column + d] = ELEMENT(sums[d] / total);
}
