#version 450
// Few rows: reading the weights is all the work. A workgroup reads the weights of OUTPUTS outputs once for ROWS rows,
// its invocations side by side along the inputs, and adds up at the end.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"
#include "subgroups.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
layout(constant_id = 1) const uint ROWS = 4;
layout(constant_id = 2) const uint OUTPUTS = 2;
#include "matrix.glsl"
#include "blocks.glsl"

shared SUM partial[LOCAL];

SUM workgroup_total(SUM value) {
  const uint lane = gl_LocalInvocationIndex;
#ifdef SUBGROUPS
  value = subgroupAdd(value);
  if (subgroupElect()) partial[gl_SubgroupID] = value;
  barrier();
  SUM total = partial[0];
  for (uint i = 1; i < gl_NumSubgroups; ++i) total += partial[i];
#else
  partial[lane] = value;
  barrier();
  for (uint half_size = LOCAL / 2; half_size > 0; half_size /= 2) {
    if (lane < half_size) partial[lane] += partial[lane + half_size];
    barrier();
  }
  const SUM total = partial[0];
#endif
  barrier();
  return total;
}

void main() {
  const uint lane = gl_LocalInvocationIndex;
  const uint first_row = gl_WorkGroupID.y * ROWS, first_output = gl_WorkGroupID.x * OUTPUTS;
  SUM sums[ROWS][OUTPUTS];
  [[unroll]] for (uint r = 0; r < ROWS; ++r)
    [[unroll]] for (uint o = 0; o < OUTPUTS; ++o) sums[r][o] = SUM(0);
  for (uint block = lane; block < call.blocks; block += LOCAL) {
    VALUE b[OUTPUTS][STEPS];
    [[unroll]] for (uint o = 0; o < OUTPUTS; ++o)
      load_w(min(first_output + o, call.outputs - 1) * call.blocks + block, b[o]);
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
      if (first_row + r >= call.rows) break;
      VALUE a[STEPS];
      load_x(call.x_offset + (first_row + r) * call.x_stride + block, a);
      [[unroll]] for (uint o = 0; o < OUTPUTS; ++o)
        [[unroll]] for (uint s = 0; s < STEPS; ++s) sums[r][o] = MULTIPLY_ADD(a[s], b[o][s], sums[r][o]);
    }
  }
  [[unroll]] for (uint r = 0; r < ROWS; ++r)
    [[unroll]] for (uint o = 0; o < OUTPUTS; ++o) {
      const SUM total = workgroup_total(sums[r][o]);
      if (lane == 0 && first_row + r < call.rows && first_output + o < call.outputs)
        finish(first_row + r, first_output + o, head_of(first_output + o), total);
    }
}
