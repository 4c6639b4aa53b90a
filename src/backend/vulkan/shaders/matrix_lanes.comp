#version 450
// For drivers that compute on the CPU, where a load costs far more than a multiply-add and an exchange between the lanes
// of a subgroup nothing: a workgroup is one subgroup, each lane loads one row (or one output) for all, in words of 64
// bits, and the sums stay where they are. LOCAL is the subgroup's size.
#extension GL_GOOGLE_include_directive : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#include "element.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 8;
layout(constant_id = 1) const uint ROWS = 4;     // times the subgroup's size
layout(constant_id = 2) const uint OUTPUTS = 8;  // times the subgroup's size
#include "lanes.glsl"
#include "matrix.glsl"

#if defined(W_INT8) || defined(X_HALF)
layout(binding = 0, std430) readonly buffer X { u64vec2 x[]; };
#else
layout(binding = 0, std430) readonly buffer X { u64vec4 x[]; };
#endif
#if defined(W_INT8) || defined(W_HALF)
layout(binding = 1, std430) readonly buffer W { u64vec2 w[]; };
#else
layout(binding = 1, std430) readonly buffer W { u64vec4 w[]; };
#endif

void main() {
  const uint lane = gl_SubgroupInvocationID;
  const uint first_row = gl_WorkGroupID.y * ROWS * LOCAL, first_output = gl_WorkGroupID.x * OUTPUTS * LOCAL;
  SUM sums[ROWS * LOCAL][OUTPUTS];
  [[unroll]] for (uint r = 0; r < ROWS * LOCAL; ++r)
    [[unroll]] for (uint o = 0; o < OUTPUTS; ++o) sums[r][o] = SUM(0);
  for (uint block = 0; block < call.blocks; ++block) {
    VALUE b[OUTPUTS][STEPS];
    [[unroll]] for (uint o = 0; o < OUTPUTS; ++o)
      unpack(w[min(first_output + o * LOCAL + lane, call.outputs - 1) * call.blocks + block], b[o]);
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
      VALUE a[STEPS];
      unpack(x[call.x_offset + min(first_row + r * LOCAL + lane, call.rows - 1) * call.x_stride + block], a);
      [[unroll]] for (uint from = 0; from < LOCAL; ++from)
        [[unroll]] for (uint s = 0; s < STEPS; ++s) {
          const VALUE value = subgroupShuffle(a[s], from);
          [[unroll]] for (uint o = 0; o < OUTPUTS; ++o)
            sums[r * LOCAL + from][o] = MULTIPLY_ADD(value, b[o][s], sums[r * LOCAL + from][o]);
        }
    }
  }
  [[unroll]] for (uint o = 0; o < OUTPUTS; ++o) {
    const uint output_ = first_output + o * LOCAL + lane;
    const vec2 head = head_of(output_);
    [[unroll]] for (uint r = 0; r < ROWS * LOCAL; ++r)
      if (first_row + r < call.rows && output_ < call.outputs) finish(first_row + r, output_, head, sums[r][o]);
  }
}
