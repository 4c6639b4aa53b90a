#version 450
// Rows of activations as dense float32 values.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"

layout(local_size_x_id = 0) in;
layout(binding = 0, std430) readonly buffer From { ELEMENT from[]; };
layout(binding = 1, std430) writeonly buffer To { float to[]; };
layout(push_constant) uniform Call { uint count, width, offset, stride; };

void main() {
  const uint row = gl_GlobalInvocationID.y, step_ = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint column = gl_GlobalInvocationID.x; column < width; column += step_)
    to[row * width + column] = float(from[offset + row * stride + column]);
}
