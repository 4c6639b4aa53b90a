#include "backend/gpu/tensor_cores.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "backend/gpu/kernels/tensor_core_shapes.h"
#include "base/error.h"

namespace sotto::gpu {
namespace {

constexpr int kFewShapes[][3] = {{8, 1, 1},  {8, 1, 4},  {8, 1, 8}, {8, 2, 8},
                                 {16, 1, 1}, {16, 1, 4}, {16, 1, 8}};

std::string few_name(const char* base, const int (&shape)[3]) {
  return fmt::format("{}_{}_{}_{}", base, shape[0], shape[1], shape[2]);
}

bool is_aligned(const void* pointer, Stride stride) {
  constexpr uintptr_t kBytes = 16;
  return reinterpret_cast<uintptr_t>(pointer) % kBytes == 0 && stride % 8 == 0;
}

// A matrix of 16-bit elements as the copy engine sees it: boxes of 64 columns x `box_rows` rows.
hopper::TensorMap tensor_map(const Queue& queue, Element element, const void* data, int rows, int columns,
                             Stride stride, int box_rows) {
  // The numbers of CUDA's documented interface.
  constexpr int kHalf = 6, kBfloat = 9, kNoInterleave = 0, kSwizzle128 = 3, kPromote256 = 3, kFillZero = 0;
  const uint64_t sizes[] = {static_cast<uint64_t>(columns), static_cast<uint64_t>(rows)};
  const uint64_t strides[] = {static_cast<uint64_t>(stride) * 2};
  const uint32_t box[] = {64, static_cast<uint32_t>(box_rows)}, steps[] = {1, 1};
  hopper::TensorMap map{};
  Context& context = queue.context();
  context.check(context.driver().encode_tensor_map()(&map, element == Element::f16 ? kHalf : kBfloat, 2,
                                                     const_cast<void*>(data), sizes, strides, box, steps,
                                                     kNoInterleave, kSwizzle128, kPromote256, kFillZero),
                "describe a matrix to the copy engine");
  return map;
}

}  // namespace

std::vector<std::string> few_kernel_names() {
  std::vector<std::string> names;
  for (const char* const base :
       {"linear_few_mma_f16", "linear_few_mma_bf16", "linear_few_mma_i8_f16", "linear_few_mma_i8_bf16"})
    for (const auto& shape : kFewShapes) names.push_back(few_name(base, shape));
  return names;
}

TensorCores::TensorCores(Context& context, Path path, Element element)
    : multiprocessors_(context.facts().multiprocessors),
      shared_limit_(context.facts().shared_memory_limit),
      element_(element) {
  if (element == Element::f32) throw Error(ErrorCode::internal, "tensor cores take 16-bit operands only");
  const Entered scope(context);
  const std::string type(element_name(element));
  linear_many_ = context.kernel(Path::mma, "linear_many_mma_" + type, mma_linear::kSharedBytes);
  attend_encoder_ = context.kernel(Path::mma, "attend_encoder_mma_" + type, attention_mma::kSharedBytes);
  for (const auto& shape : kFewShapes) {
    const auto find = [&](const std::string& base) {
      return context.kernel(
          Path::mma, few_name(base.c_str(), shape),
          std::min(static_cast<size_t>(few_mma::shared_bytes(shape[0], shape[1], shape[2])), shared_limit_));
    };
    few_.push_back(
        {{shape[0], shape[1], shape[2]}, find("linear_few_mma_" + type), find("linear_few_mma_i8_" + type)});
  }
  if (path != Path::wgmma || context.driver().encode_tensor_map() == nullptr) return;
  hopper_narrow_ =
      context.kernel(Path::wgmma, "linear_many_wgmma_128_" + type, wgmma_linear::shared_bytes(128));
  hopper_wide_ =
      context.kernel(Path::wgmma, "linear_many_wgmma_256_" + type, wgmma_linear::shared_bytes(256));
  hopper_attend_ = context.kernel(Path::wgmma, "attend_encoder_wgmma_" + type, attention_wgmma::kSharedBytes);
}

bool TensorCores::linear_many(Queue& queue, const LinearArgs& args) const {
  if (args.y_is_full || args.inputs % 8 != 0 || args.outputs % 8 != 0 || args.padded_inputs % 8 != 0 ||
      !is_aligned(args.x, args.x_stride) || !is_aligned(args.y, args.y_stride) ||
      !is_aligned(args.residual, args.residual_stride))
    return false;
  if (hopper_wide_.function != nullptr && args.inputs % 64 == 0) return linear_many_on_hopper(queue, args);
  queue.launch(
      linear_many_,
      Launch{blocks_for(args.outputs, mma_linear::kOutputs), blocks_for(args.rows, mma_linear::kRows), 1,
             mma_linear::kThreads, mma_linear::kSharedBytes},
      args);
  return true;
}

// Wide tiles move less; narrow ones fill the chip where there are few. The numbers are the same.
bool TensorCores::linear_many_on_hopper(Queue& queue, const LinearArgs& args) const {
  const unsigned row_tiles = blocks_for(args.rows, wgmma_linear::kRows);
  const unsigned wide_tiles = row_tiles * blocks_for(args.outputs, 256);
  const auto chip = static_cast<unsigned>(multiprocessors_);
  const unsigned narrow_tiles = row_tiles * blocks_for(args.outputs, 128);
  // A wide tile takes a little less than two narrow ones; what counts is how often the whole chip goes round.
  const bool wide = 19 * blocks_for(wide_tiles, chip) <= 10 * blocks_for(narrow_tiles, chip);
  const int columns = wide ? 256 : 128;
  WgmmaLinearArgs all;
  all.x = tensor_map(queue, element_, args.x, args.rows, args.inputs, args.x_stride, wgmma_linear::kRows);
  all.weights =
      tensor_map(queue, element_, args.weights, args.outputs, args.inputs, args.padded_inputs, columns);
  all.y = tensor_map(queue, element_, args.y, args.rows, args.outputs, args.y_stride, wgmma_linear::kRows);
  all.residual = all.y;
  if (args.residual != nullptr)
    all.residual = tensor_map(queue, element_, args.residual, args.rows, args.outputs, args.residual_stride,
                              wgmma_linear::kRows);
  all.linear = args;
  const unsigned tiles = wide ? wide_tiles : narrow_tiles;
  queue.launch(wide ? hopper_wide_ : hopper_narrow_,
               Launch{std::min(tiles, chip), 1, 1, wgmma_linear::kThreads,
                      static_cast<unsigned>(wgmma_linear::shared_bytes(columns))},
               all);
  return true;
}

bool TensorCores::is_aligned_for_few(const LinearArgs& args) {
  return is_aligned(args.x, args.x_stride);
}

// The warps that share the inputs are a matter of their number alone; the rest changes no numbers.
TensorCores::FewShape TensorCores::few_shape(const LinearArgs& args) const {
  constexpr int kManyInputs = 4096, kManyOutputs = 2560;
  if (args.inputs >= kManyInputs) {
    const bool fits = static_cast<size_t>(few_mma::shared_bytes(16, 1, 8)) <= shared_limit_;
    return {16, 1, args.rows <= 8 ? 1 : args.rows <= 32 || !fits ? 4 : 8};
  }
  if (args.rows <= 8) return {8, 1, 1};
  if (args.rows <= 32) return {8, 1, 4};
  return {8, args.outputs >= kManyOutputs ? 2 : 1, 8};
}

void TensorCores::linear_few(Queue& queue, const LinearArgs& args) const {
  const FewShape shape = few_shape(args);
  const auto found = std::find_if(few_.begin(), few_.end(), [&](const Few& few) {
    return few.shape.warps == shape.warps && few.shape.tiles == shape.tiles &&
           few.shape.row_tiles == shape.row_tiles;
  });
  queue.launch(
      args.scales != nullptr ? found->int8_kernel : found->kernel,
      Launch{blocks_for(args.outputs, 16 * shape.tiles), blocks_for(args.rows, 8 * shape.row_tiles), 1,
             static_cast<unsigned>(shape.warps) * 32,
             static_cast<unsigned>(few_mma::shared_bytes(shape.warps, shape.tiles, shape.row_tiles))},
      args);
}

bool TensorCores::attend_encoder(Queue& queue, const EncoderAttentionArgs& args) const {
  if (args.head_width != attention_mma::kWidth || !is_aligned(args.qkv, args.qkv_stride) ||
      !is_aligned(args.out, args.out_stride))
    return false;
  if (hopper_attend_.function != nullptr) {
    const int rows = args.positions * args.windows, columns = 3 * args.heads * args.head_width;
    const WgmmaAttentionArgs all{
        tensor_map(queue, element_, args.qkv, rows, columns, args.qkv_stride, attention_wgmma::kQueries),
        tensor_map(queue, element_, args.qkv, rows, columns, args.qkv_stride, attention_wgmma::kKeys), args};
    const unsigned items = blocks_for(args.positions, attention_wgmma::kQueries) *
                           static_cast<unsigned>(args.heads) * static_cast<unsigned>(args.windows);
    queue.launch(hopper_attend_,
                 Launch{std::min(items, static_cast<unsigned>(multiprocessors_)), 1, 1,
                        attention_wgmma::kThreads, attention_wgmma::kSharedBytes},
                 all);
    return true;
  }
  queue.launch(
      attend_encoder_,
      Launch{blocks_for(args.positions, attention_mma::kQueries), static_cast<unsigned>(args.heads),
             static_cast<unsigned>(args.windows), attention_mma::kThreads, attention_mma::kSharedBytes},
      args);
  return true;
}

}  // namespace sotto::gpu
