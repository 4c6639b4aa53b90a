#include <algorithm>
#include <vector>

#include "backend/gpu/gpu_types.h"
#include "backend/stacked_rows.h"
#include "base/error.h"

namespace sotto::gpu {
namespace {

size_t round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

GpuMatrix::GpuMatrix(const std::shared_ptr<Context>& context, size_t outputs, size_t inputs, Element element,
                     bool is_int8, MatrixUse use, Layout layout)
    : Matrix(outputs, inputs),
      is_int8_(is_int8),
      use_(use),
      layout_(layout),
      padded_inputs_(round_up(inputs, is_int8 ? 16 : 8)),  // 16 bytes of the 16-bit types and of int8
      padded_outputs_(layout == Layout::fragments ? round_up(outputs, 16) : outputs),
      weights_(context, padded_outputs_ * padded_inputs_ * (is_int8 ? 1 : gpu::element_bytes(element))),
      scales_(context, is_int8 ? padded_outputs_ * sizeof(float) : 0),
      bias_(context, padded_outputs_ * sizeof(float)) {
  bytes_ = weights_.bytes() + scales_.bytes() + bias_.bytes();
}

std::unique_ptr<Matrix> GpuBackend::do_pack_matrix(std::span<const MatrixPart> parts, MatrixUse use) {
  const Entered scope(*context_);
  const StackedRows source(parts);
  const size_t outputs = source.outputs(), inputs = source.inputs();
  const size_t rows_at_once = std::min(Queue::staging_bytes() / (inputs * sizeof(float)), outputs);
  if (rows_at_once == 0)
    throw Error(ErrorCode::unsupported, "a matrix with {} inputs is too wide for the GPU", inputs);
  auto matrix =
      std::make_unique<GpuMatrix>(context_, outputs, inputs, element_, int8_, use, layout_for(inputs, use));
  if (matrix->padded_outputs() > outputs) {
    const size_t bytes = matrix->weights().bytes();
    queue_.fill_zero(matrix->weights().address(), bytes, 1, bytes);
    if (int8_)
      queue_.fill_zero(reinterpret_cast<Address>(matrix->scales()), matrix->padded_outputs() * sizeof(float),
                       1, matrix->padded_outputs() * sizeof(float));
  }
  std::vector<float> bias(matrix->padded_outputs(), 0.0f);
  source.read_bias(bias.data());
  queue_.upload(matrix->bias_buffer().address(), std::as_bytes(std::span(bias)));

  // The pool converts into pinned memory while the device packs what came before.
  const size_t tasks = static_cast<size_t>(pool_.size());
  std::vector<std::vector<float>> spares(tasks, std::vector<float>(inputs));
  for (size_t first = 0; first < outputs; first += rows_at_once) {
    const size_t count = std::min(rows_at_once, outputs - first), bytes = count * inputs * sizeof(float);
    std::byte* reserved = queue_.reserve(bytes);
    const size_t each = (count + tasks - 1) / tasks;
    pool_.parallel_for(tasks, [&](size_t task) {
      const size_t begin = std::min(task * each, count), end = std::min(begin + each, count);
      if (begin < end)
        source.read(first + begin, end - begin, reinterpret_cast<float*>(reserved) + begin * inputs,
                    spares[task]);
    });
    queue_.send(staging_.address(), reserved, bytes);
    const PackArgs args{staging_.pointer<float>(),
                        matrix->weights().pointer(),
                        matrix->scales(),
                        static_cast<int>(count),
                        static_cast<int>(first),
                        static_cast<int>(inputs),
                        static_cast<int>(matrix->padded_inputs()),
                        matrix->layout()};
    queue_.launch(int8_ ? kernels_.pack_int8 : kernels_.pack, shape_of(args), args);
  }
  source.release();
  // Made now, so that nothing is allocated in the middle of the work.
  if (int8_ && use == MatrixUse::many_rows)
    dequantized_.reserve(queue_, outputs * matrix->padded_inputs() * element_bytes(element_));
  return matrix;
}

std::unique_ptr<Norm> GpuBackend::do_pack_norm(const TensorView& scale, const TensorView& shift) {
  const Entered scope(*context_);
  auto norm = std::make_unique<GpuNorm>(context_, static_cast<size_t>(scale.elements()));
  std::vector<float> values = read_all(scale);
  const std::vector<float> shifts = read_all(shift);
  values.insert(values.end(), shifts.begin(), shifts.end());
  queue_.upload(norm->values().address(), std::as_bytes(std::span(values)));
  return norm;
}

Layout GpuBackend::layout_for(size_t inputs, MatrixUse use) const {
  const bool fragments = tensor_cores_ && use == MatrixUse::few_rows && TensorCores::takes_fragments(inputs);
  return fragments ? Layout::fragments : Layout::rows;
}

}  // namespace sotto::gpu
