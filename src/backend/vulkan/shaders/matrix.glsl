// What the matrix kernels share: y = epilogue(x W' + bias). Inputs come in blocks of 8 values, or of 16 for int8, padded
// with zeros. Each output is one chain of multiply-adds over its inputs from the first to the last, so that neither the
// kernel's tiles nor the other rows change a bit of it.
//   W_FLOAT32, W_HALF or W_INT8: the weights; X_HALF: the rows; int8 weights meet int8 rows
//   HALF: what is written
layout(push_constant) uniform Call {
  uint rows, outputs, blocks;
  uint first_output;        // where this part of the matrix begins
  uint x_offset, x_stride;  // in blocks
  uint y_offset, y_stride, residual_offset, residual_stride;
  uint gelu, residual;
} call;
layout(binding = 2, std430) readonly buffer Outputs { vec2 bias_scale[]; };
layout(binding = 3, std430) buffer Y { ELEMENT y[]; };
layout(binding = 4, std430) readonly buffer Residual { ELEMENT residual_rows[]; };

#ifdef W_INT8
layout(binding = 5, std430) readonly buffer RowScales { float row_scales[]; };
#define VALUE uint  // four bytes
#define SUM int
#define STEPS 4     // of a block
#ifdef DOT_PRODUCT
#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int dot_of_bytes(uint a, uint b, spirv_literal int format);
#define MULTIPLY_ADD(a, b, sum) ((sum) + dot_of_bytes(a, b, 0))
#else
int dot_of_bytes(uint a, uint b) {
  return (int(a << 24) >> 24) * (int(b << 24) >> 24) + (int(a << 16) >> 24) * (int(b << 16) >> 24) +
         (int(a << 8) >> 24) * (int(b << 8) >> 24) + (int(a) >> 24) * (int(b) >> 24);
}
#define MULTIPLY_ADD(a, b, sum) ((sum) + dot_of_bytes(a, b))
#endif
#else
#define VALUE float
#define SUM float
#define STEPS 8
#define MULTIPLY_ADD(a, b, sum) fma(a, b, sum)
#endif

vec2 head_of(uint output_) { return bias_scale[call.first_output + min(output_, call.outputs - 1)]; }

// erf to 1.5e-7 (Abramowitz and Stegun, 7.1.26).
float erf(float x) {
  const float t = 1.0 / (1.0 + 0.3275911 * abs(x));
  const float poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
  return sign(x) * (1.0 - poly * exp(-x * x));
}

// head: bias and scale of the output.
void finish(uint row, uint output_, vec2 head, SUM sum) {
  const uint column = call.first_output + output_;
#ifdef W_INT8
  float value = float(sum) * (row_scales[row] * head.y) + head.x;
#else
  float value = sum + head.x;
#endif
  if (call.gelu != 0) value = 0.5 * value * (1.0 + erf(value * 0.70710678118654752));
  if (call.residual != 0) value += float(residual_rows[call.residual_offset + row * call.residual_stride + column]);
  y[call.y_offset + row * call.y_stride + column] = ELEMENT(value);
}
