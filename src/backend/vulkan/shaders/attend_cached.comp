#version 450
// One workgroup for each row and head: the scores of all positions, their softmax, then the sum of the values. The
// invocations take positions in turn for the scores, and groups of HEAD of them share the positions for the sum.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"
#include "subgroups.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
layout(constant_id = 1) const uint HEAD = 64;
layout(constant_id = 2) const uint ROOM = 1500;  // positions that the cache has
layout(constant_id = 3) const uint GROUPS = 1;   // LOCAL / HEAD, at least one
layout(binding = 0, std430) readonly buffer Queries { ELEMENT queries[]; };
layout(binding = 1, std430) readonly buffer Cache { ELEMENT cache[]; };  // one layer, as in store_cache.comp
layout(binding = 2, std430) writeonly buffer Out { ELEMENT result[]; };
layout(binding = 3, std430) readonly buffer Rows { ivec4 rows[]; };  // token, position, slot, window
layout(binding = 4, std430) readonly buffer Chosen { int chosen_heads[]; };
layout(binding = 5, std430) writeonly buffer Kept { float kept[]; };  // rows x chosen heads x positions
layout(push_constant) uniform Call {
  uint width, q_offset, q_stride, out_offset, out_stride;
  uint by_slot;  // the row's slot up to its position; else its window with all positions
  uint chosen;
};
#include "reduce.glsl"

shared float scores[ROOM];
shared float query[HEAD];
shared float sums[GROUPS * HEAD];

void main() {
  const uint lane = gl_LocalInvocationIndex, head = gl_WorkGroupID.x, row = gl_WorkGroupID.y;
  const uint entry = uint(by_slot != 0 ? rows[row].z : rows[row].w);
  const uint positions = by_slot != 0 ? uint(rows[row].y) + 1 : ROOM;
  const uint keys = entry * 2 * ROOM * width + head * HEAD, values = keys + ROOM * width;
  for (uint d = lane; d < HEAD; d += LOCAL)
    query[d] = float(queries[q_offset + row * q_stride + head * HEAD + d]) * inversesqrt(float(HEAD));
  barrier();

  float largest = -3.0e38;
  for (uint p = lane; p < positions; p += LOCAL) {
    float score = 0;
    for (uint d = 0; d < HEAD; ++d) score = fma(query[d], float(cache[keys + p * width + d]), score);
    scores[p] = score;
    largest = max(largest, score);
  }
  largest = workgroup_max(largest);
  float total = 0;
  for (uint p = lane; p < positions; p += LOCAL) {
    scores[p] = exp(scores[p] - largest);
    total += scores[p];
  }
  const float factor = 1.0 / workgroup_sum(total);  // its barriers show all scores to all

  for (uint c = 0; c < chosen; ++c)
    if (uint(chosen_heads[c]) == head)
      for (uint p = lane; p < positions; p += LOCAL) kept[(row * chosen + c) * ROOM + p] = scores[p] * factor;

  for (uint i = lane; i < GROUPS * HEAD; i += LOCAL) {
    const uint group = i / HEAD, d = i % HEAD;
    float sum = 0;
    for (uint p = group; p < positions; p += GROUPS) sum = fma(scores[p], float(cache[values + p * width + d]), sum);
    sums[i] = sum;
  }
  barrier();
  for (uint d = lane; d < HEAD; d += LOCAL) {
    float sum = 0;
    for (uint group = 0; group < GROUPS; ++group) sum += sums[group * HEAD + d];
    result[out_offset + row * out_stride + head * HEAD + d] = ELEMENT(sum * factor);
  }
}
