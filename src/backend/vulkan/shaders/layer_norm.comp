#version 450
// One workgroup for each row. The variance is that of the differences from the mean: a one-pass sum of squares would
// drown in a large mean.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"
#include "subgroups.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
layout(binding = 0, std430) readonly buffer X { ELEMENT x[]; };
layout(binding = 1, std430) buffer Y { ELEMENT y[]; };
layout(binding = 2, std430) readonly buffer Weights { vec2 scale_shift[]; };
layout(push_constant) uniform Call { uint width, x_offset, x_stride, y_offset, y_stride; };
#include "reduce.glsl"

void main() {
  const uint lane = gl_LocalInvocationIndex;
  const uint from = x_offset + gl_WorkGroupID.x * x_stride, to = y_offset + gl_WorkGroupID.x * y_stride;
  float sum = 0;
  for (uint i = lane; i < width; i += LOCAL) sum += float(x[from + i]);
  const float mean = workgroup_sum(sum) / float(width);
  float squares = 0;
  for (uint i = lane; i < width; i += LOCAL) {
    const float difference = float(x[from + i]) - mean;
    squares += difference * difference;
  }
  const float factor = 1.0 / sqrt(workgroup_sum(squares) / float(width) + 1e-5);
  for (uint i = lane; i < width; i += LOCAL) {
    const vec2 weights = scale_shift[i];
    y[to + i] = ELEMENT((float(x[from + i]) - mean) * factor * weights.x + weights.y);
  }
}
