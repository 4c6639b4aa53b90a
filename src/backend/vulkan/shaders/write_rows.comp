#version 450
// Dense float32 values into rows of activations; with `zero`, zeros.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"

layout(local_size_x_id = 0) in;
layout(binding = 0, std430) readonly buffer From { float from[]; };
layout(binding = 1, std430) writeonly buffer To { ELEMENT to[]; };
layout(push_constant) uniform Call { uint count, width, offset, stride, zero; };

void main() {
  const uint row = gl_GlobalInvocationID.y, step_ = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint column = gl_GlobalInvocationID.x; column < width; column += step_)
    to[offset + row * stride + column] = ELEMENT(zero != 0 ? 0.0 : from[row * width + column]);
}
