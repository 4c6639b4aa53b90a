#version 450
// Rows of key and value into one layer of a cache: entries x {keys, values} x positions x width.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"

layout(local_size_x_id = 0) in;
layout(binding = 0, std430) readonly buffer From { ELEMENT from[]; };
layout(binding = 1, std430) writeonly buffer Cache { ELEMENT cache[]; };
layout(binding = 2, std430) readonly buffer Rows { ivec4 rows[]; };  // token, position, slot, window
// by_row: each row says its slot and position; else all belong to `entry`, from position 0 on.
layout(push_constant) uniform Call { uint width, positions, offset, stride, by_row, entry; };

void main() {
  const uint column = gl_GlobalInvocationID.x, row = gl_GlobalInvocationID.y;
  if (column >= 2 * width) return;
  const uint to_entry = by_row != 0 ? uint(rows[row].z) : entry, position = by_row != 0 ? uint(rows[row].y) : row;
  const uint half_ = column / width;
  cache[((to_entry * 2 + half_) * positions + position) * width + column % width] = from[offset + row * stride + column];
}
