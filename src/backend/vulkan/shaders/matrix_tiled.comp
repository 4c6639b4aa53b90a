#version 450
// Many rows: a workgroup computes TILE_ROWS x TILE_OUTPUTS values from tiles in shared memory, each invocation
// ROWS x OUTPUTS of them.
#extension GL_GOOGLE_include_directive : require
#include "element.glsl"
#ifdef FLOAT16
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define SHARED float16_t  // both sides come from halves: as exact, half the space
#endif

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint LOCAL = 64;
layout(constant_id = 1) const uint TILE_ROWS = 64;
layout(constant_id = 2) const uint TILE_OUTPUTS = 64;
layout(constant_id = 3) const uint ROWS = 8;
layout(constant_id = 4) const uint OUTPUTS = 8;
layout(constant_id = 5) const uint BLOCKS = 2;  // of inputs at a time
#include "matrix.glsl"
#include "blocks.glsl"
#ifndef SHARED
#define SHARED VALUE
#endif

const uint ROW_LANES = TILE_ROWS / ROWS, OUTPUT_LANES = TILE_OUTPUTS / OUTPUTS;
shared SHARED x_tile[BLOCKS * STEPS * TILE_ROWS];
shared SHARED w_tile[BLOCKS * STEPS * TILE_OUTPUTS];

void main() {
  const uint lane = gl_LocalInvocationIndex;
  const uint first_row = gl_WorkGroupID.y * TILE_ROWS, first_output = gl_WorkGroupID.x * TILE_OUTPUTS;
  const uint row_lane = lane / OUTPUT_LANES, output_lane = lane % OUTPUT_LANES;
  SUM sums[ROWS][OUTPUTS];
  [[unroll]] for (uint r = 0; r < ROWS; ++r)
    [[unroll]] for (uint o = 0; o < OUTPUTS; ++o) sums[r][o] = SUM(0);

  for (uint first = 0; first < call.blocks; first += BLOCKS) {
    // What lies outside is taken from the last row, output or block; inputs behind the last count as zero.
    for (uint i = lane; i < TILE_ROWS * BLOCKS; i += LOCAL) {
      const uint row = i / BLOCKS, block = i % BLOCKS;
      VALUE values[STEPS];
      load_x(call.x_offset + min(first_row + row, call.rows - 1) * call.x_stride + min(first + block, call.blocks - 1),
             values);
      const bool inside = first + block < call.blocks;
      [[unroll]] for (uint s = 0; s < STEPS; ++s)
        x_tile[(block * STEPS + s) * TILE_ROWS + row] = inside ? SHARED(values[s]) : SHARED(0);
    }
    for (uint i = lane; i < TILE_OUTPUTS * BLOCKS; i += LOCAL) {
      const uint output_ = i / BLOCKS, block = i % BLOCKS;
      VALUE values[STEPS];
      load_w(min(first_output + output_, call.outputs - 1) * call.blocks + min(first + block, call.blocks - 1), values);
      [[unroll]] for (uint s = 0; s < STEPS; ++s)
        w_tile[(block * STEPS + s) * TILE_OUTPUTS + output_] = SHARED(values[s]);
    }
    barrier();
    for (uint k = 0; k < BLOCKS * STEPS; ++k) {
      VALUE a[ROWS], b[OUTPUTS];
      [[unroll]] for (uint r = 0; r < ROWS; ++r) a[r] = VALUE(x_tile[k * TILE_ROWS + r * ROW_LANES + row_lane]);
      [[unroll]] for (uint o = 0; o < OUTPUTS; ++o)
        b[o] = VALUE(w_tile[k * TILE_OUTPUTS + o * OUTPUT_LANES + output_lane]);
      [[unroll]] for (uint r = 0; r < ROWS; ++r)
        [[unroll]] for (uint o = 0; o < OUTPUTS; ++o) sums[r][o] = MULTIPLY_ADD(a[r], b[o], sums[r][o]);
    }
    barrier();
  }
  [[unroll]] for (uint o = 0; o < OUTPUTS; ++o) {
    const uint output_ = first_output + o * OUTPUT_LANES + output_lane;
    const vec2 head = head_of(output_);
    [[unroll]] for (uint r = 0; r < ROWS; ++r) {
      const uint row = first_row + r * ROW_LANES + row_lane;
      if (row < call.rows && output_ < call.outputs) finish(row, output_, head, sums[r][o]);
    }
  }
}
