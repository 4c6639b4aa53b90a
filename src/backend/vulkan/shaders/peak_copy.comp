#version 450
// A plain copy: the ceiling of what memory gives.
layout(local_size_x_id = 0) in;
layout(binding = 0, std430) readonly buffer From { uvec4 from[]; };
layout(binding = 1, std430) writeonly buffer To { uvec4 to[]; };
layout(push_constant) uniform Call { uint count; };

void main() {
  const uint step_ = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
  for (uint i = gl_GlobalInvocationID.x; i < count; i += step_) to[i] = from[i];
}
