#version 450
// Rows as signed bytes, four to a word, with one scale for each row: the largest magnitude becomes 127. A row (almost)
// of zeros has the scale 0. One workgroup for each row.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"
#include "subgroups.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
layout(binding = 0, std430) readonly buffer From { ELEMENT from[]; };
layout(binding = 1, std430) writeonly buffer To { uint to[]; };
layout(binding = 2, std430) writeonly buffer Scales { float scales[]; };
layout(push_constant) uniform Call { uint width, words, offset, stride; };
#include "reduce.glsl"

void main() {
  const uint lane = gl_LocalInvocationIndex, row = gl_WorkGroupID.x, begin = offset + row * stride;
  float largest = 0;
  for (uint i = lane; i < width; i += LOCAL) largest = max(largest, abs(float(from[begin + i])));
  largest = workgroup_max(largest);
  const float factor = largest < 1e-30 ? 0.0 : 127.0 / largest;
  for (uint word = lane; word < words; word += LOCAL) {
    uint packed = 0;
    [[unroll]] for (uint i = 0; i < 4; ++i) {
      const uint column = word * 4 + i;
      const float value = column < width ? float(from[begin + column]) * factor : 0.0;
      packed |= (uint(int(clamp(roundEven(value), -127.0, 127.0))) & 255u) << (8 * i);
    }
    to[row * words + word] = packed;
  }
  if (lane == 0) scales[row] = largest < 1e-30 ? 0.0 : largest / 127.0;
}
