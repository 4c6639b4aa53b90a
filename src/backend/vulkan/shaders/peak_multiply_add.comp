#version 450
// Multiply-adds and nothing else: the ceiling of what the units give.
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x_id = 0) in;
layout(binding = 0, std430) buffer Values { float values[]; };
layout(push_constant) uniform Call { uint rounds; };

const uint kChains = 16, kUnrolled = 4;

void main() {
  const uint i = gl_GlobalInvocationID.x;
  const float factor = values[i], addend = values[i] + 1.0;
  float chains[kChains];
  [[unroll]] for (uint c = 0; c < kChains; ++c) chains[c] = float(c) + float(i);
  for (uint round_ = 0; round_ < rounds; ++round_)
    [[unroll]] for (uint u = 0; u < kUnrolled; ++u)
      [[unroll]] for (uint c = 0; c < kChains; ++c) chains[c] = fma(chains[c], factor, addend);
  float sum = 0;
  [[unroll]] for (uint c = 0; c < kChains; ++c) sum += chains[c];
  values[i] = sum;
}
