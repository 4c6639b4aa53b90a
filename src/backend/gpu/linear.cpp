#include "backend/gpu/gpu_types.h"

namespace sotto::gpu {

// The kernels that multiply many rows take weights of the activations' type; int8 weights become that just
// before.
const void* GpuBackend::weights_in_element(const GpuMatrix& matrix) {
  if (!matrix.is_int8()) return matrix.weights().pointer();
  const Buffer& target =
      dequantized_.reserve(queue_, matrix.outputs() * matrix.padded_inputs() * element_bytes(element_));
  const DequantizeArgs args{matrix.weights().pointer<const signed char>(), matrix.scales(), target.pointer(),
                            static_cast<int>(matrix.outputs()), static_cast<int>(matrix.padded_inputs())};
  queue_.launch(kernels_.dequantize, shape_of(args), args);
  return target.pointer();
}

// Rows one behind the other, in memory that serves until the next such call.
CopyRowsArgs GpuBackend::to_dense_rows(const void* rows, Stride stride, int count, int width) {
  const Buffer& dense = dense_rows_.reserve(
      queue_, static_cast<size_t>(count) * static_cast<size_t>(width) * element_bytes(element_));
  const CopyRowsArgs copy{rows, stride, dense.pointer(), width, count, width};
  queue_.launch(kernels_.copy_rows, shape_of(copy), copy);
  return copy;
}

// Which kernel works is decided by the matrix's use, never by the number of rows.
void GpuBackend::multiply(const GpuMatrix& matrix, LinearArgs args) {
  args.weights = matrix.weights().pointer();
  args.scales = matrix.scales();
  args.bias = matrix.bias();
  args.outputs = static_cast<int>(matrix.outputs());
  args.inputs = static_cast<int>(matrix.inputs());
  args.padded_inputs = static_cast<int>(matrix.padded_inputs());
  if (matrix.layout() == Layout::fragments) {
    if (!TensorCores::is_aligned_for_few(args)) {
      const CopyRowsArgs copy = to_dense_rows(args.x, args.x_stride, args.rows, args.inputs);
      args.x = copy.target;
      args.x_stride = copy.target_stride;
    }
    tensor_cores_->linear_few(queue_, args);
    return;
  }
  if (matrix.use() == MatrixUse::few_rows) {
    queue_.launch(matrix.is_int8() ? kernels_.linear_few_int8 : kernels_.linear_few, few_simt_shape(args),
                  args);
    return;
  }
  args.weights = weights_in_element(matrix);
  args.scales = nullptr;
  if (tensor_cores_ && tensor_cores_->linear_many(queue_, args)) return;
  queue_.launch(kernels_.linear_many, many_simt_shape(args), args);
}

void GpuBackend::do_linear(const Matrix& weights, const Rows& x, const Rows& y, const Epilogue& epilogue) {
  if (x.count == 0) return;
  const Entered scope(*context_);
  LinearArgs args{};
  args.x = activations("linear", x);
  args.x_stride = static_cast<Stride>(x.stride);
  args.y = any_rows(y);
  args.y_stride = static_cast<Stride>(y.stride);
  args.y_is_full = is_full(y);
  if (epilogue.residual != nullptr) {
    args.residual = activations("linear", *epilogue.residual);
    args.residual_stride = static_cast<Stride>(epilogue.residual->stride);
  }
  args.rows = static_cast<int>(x.count);
  args.gelu = epilogue.gelu;
  multiply(static_cast<const GpuMatrix&>(weights), args);
}

// Three neighbouring rows that lie one behind the other are one row of a matrix product.
void GpuBackend::do_convolve(const Matrix& weights, const Rows& x, const Rows& y, int stride,
                             const Rows* addend) {
  if (y.count == 0) return;
  const Entered scope(*context_);
  LinearArgs args{};
  args.x = activations("convolve", x);
  args.x_stride = static_cast<Stride>(x.width) * stride;
  if (x.stride != x.width) {
    args.x = to_dense_rows(args.x, static_cast<Stride>(x.stride), static_cast<int>(x.count),
                           static_cast<int>(x.width))
                 .target;
  }
  args.y = activations("convolve", y);
  args.y_stride = static_cast<Stride>(y.stride);
  if (addend != nullptr) {
    args.residual = activations("convolve", *addend);
    args.residual_stride = static_cast<Stride>(addend->stride);
  }
  args.rows = static_cast<int>(y.count);
  args.gelu = 1;
  multiply(static_cast<const GpuMatrix&>(weights), args);
}

void GpuBackend::do_layer_norm(const Norm& norm, const Rows& x, const Rows& y) {
  if (x.count == 0) return;
  const Entered scope(*context_);
  const auto& weights = static_cast<const GpuNorm&>(norm);
  const LayerNormArgs args{activations("layer_norm", x),
                           static_cast<Stride>(x.stride),
                           activations("layer_norm", y),
                           static_cast<Stride>(y.stride),
                           weights.scale(),
                           weights.shift(),
                           static_cast<int>(x.count),
                           static_cast<int>(x.width)};
  constexpr size_t kFewRows = 512;
  queue_.launch(x.count <= kFewRows ? kernels_.layer_norm_few : kernels_.layer_norm, shape_of(args), args);
}

}  // namespace sotto::gpu
