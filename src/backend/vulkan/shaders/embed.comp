#version 450
// out row = row of the token's weights + row of the position.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"

layout(local_size_x_id = 0) in;
layout(binding = 0, std430) readonly buffer Weights { uint weights[]; };
layout(binding = 1, std430) readonly buffer Outputs { vec2 bias_scale[]; };
layout(binding = 2, std430) readonly buffer Positions { ELEMENT positions[]; };
layout(binding = 3, std430) readonly buffer Rows { ivec4 rows[]; };  // token, position, slot, window
layout(binding = 4, std430) writeonly buffer Out { ELEMENT result[]; };
// The part of the table that is bound holds tokens [first_token, last_token).
layout(push_constant) uniform Call {
  uint width, row_words, first_token, last_token, positions_offset, positions_stride, out_offset, out_stride;
};

float weight(uint token, uint column) {
  const uint row = (token - first_token) * row_words;
#if defined(W_INT8)
  const uint word = weights[row + column / 4];
  return float(int(word << (24 - 8 * (column % 4))) >> 24) * bias_scale[token].y;
#elif defined(W_HALF)
  const vec2 pair = unpackHalf2x16(weights[row + column / 2]);
  return column % 2 == 0 ? pair.x : pair.y;
#else
  return uintBitsToFloat(weights[row + column]);
#endif
}

void main() {
  const uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
  const uint token = uint(rows[row].x);
  if (column >= width || token < first_token || token >= last_token) return;
  const float position = float(positions[positions_offset + uint(rows[row].y) * positions_stride + column]);
  result[out_offset + row * out_stride + column] = ELEMENT(weight(token, column) + position);
}
