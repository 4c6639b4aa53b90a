#version 450
// Rows of any width, place and distance as dense blocks of 8 values, with zeros behind the last: what the matrix
// kernels read.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"

layout(local_size_x_id = 0) in;
layout(binding = 0, std430) readonly buffer From { ELEMENT from[]; };
layout(binding = 1, std430) writeonly buffer To { uvec4 to[]; };
layout(push_constant) uniform Call { uint width, blocks, offset, stride; };

void main() {
  const uint block = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
  if (block >= blocks) return;
  float v[8];
  [[unroll]] for (uint i = 0; i < 8; ++i) {
    const uint column = block * 8 + i;
    v[i] = column < width ? float(from[offset + row * stride + column]) : 0.0;
  }
  const uint at = row * blocks + block;
#ifdef HALF
  to[at] = uvec4(packHalf2x16(vec2(v[0], v[1])), packHalf2x16(vec2(v[2], v[3])), packHalf2x16(vec2(v[4], v[5])),
                 packHalf2x16(vec2(v[6], v[7])));
#else
  to[2 * at] = floatBitsToUint(vec4(v[0], v[1], v[2], v[3]));
  to[2 * at + 1] = floatBitsToUint(vec4(v[4], v[5], v[6], v[7]));
#endif
}
