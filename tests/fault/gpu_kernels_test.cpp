// What the operation tests, which run the plain kernels through the backend, do not reach.
#include "fault/kernel_test_support.h"
#include "tensor/reference_ops.h"

namespace sotto::test {
namespace {

using gpu::DeviceRow;

constexpr size_t kHeads = 2;

// Weights as the kernels want them: padded rows of an element type, or int8 with scales.
struct PackedMatrix {
  std::vector<std::byte> bytes;
  std::vector<float> scales;
  int padded_inputs;
};

PackedMatrix pack(const std::string& type, const std::vector<float>& weights, int outputs, int inputs,
                  gpu::Layout layout = gpu::Layout::rows) {
  const int unit = layout == gpu::Layout::rows ? 8 : 32;
  PackedMatrix made{{}, std::vector<float>(static_cast<size_t>(outputs)), (inputs + unit - 1) / unit * unit};
  const size_t size = type == "f32" ? 4 : type == "i8" ? 1 : 2;
  made.bytes.resize(static_cast<size_t>((outputs + 15) / 16 * 16 * made.padded_inputs) * size);
  run_kernel("pack_" + type, gpu::PackArgs{weights.data(), made.bytes.data(), made.scales.data(), outputs, 0,
                                           inputs, made.padded_inputs, layout});
  return made;
}

std::string type_name(Element element) {
  return suffix(element) + 1;
}

// --- wide loads are a matter of speed only ---

std::vector<float> run_linear(const std::string& kernel, Element element, Placement placement, bool int8,
                              bool many) {
  constexpr int kRows = 11, kOutputs = 70, kInputs = 152;
  const auto weights = random_floats(kOutputs * kInputs, 1, 0.1F), bias = random_floats(kOutputs, 2);
  PackedMatrix matrix = pack(int8 ? "i8" : type_name(element), weights, kOutputs, kInputs);
  KernelRows x(element, random_floats(kRows * kInputs, 3), kInputs, placement);
  KernelRows residual(element, random_floats(kRows * kOutputs, 4), kOutputs, placement);
  KernelRows y(element, kRows, kOutputs, placement);
  const gpu::LinearArgs args{x.data(),
                             x.stride(),
                             matrix.bytes.data(),
                             matrix.scales.data(),
                             bias.data(),
                             residual.data(),
                             residual.stride(),
                             y.data(),
                             y.stride(),
                             kRows,
                             kOutputs,
                             kInputs,
                             matrix.padded_inputs,
                             1,
                             0};
  run_kernel(kernel + suffix(element), many ? gpu::many_simt_shape(args) : gpu::few_simt_shape(args), args);
  return y.values();
}

std::vector<float> run_layer_norm(Element element, Placement placement, size_t width) {
  constexpr size_t kRows = 5;
  const auto scale = random_floats(width, 5), shift = random_floats(width, 6);
  KernelRows x(element, random_floats(kRows * width, 7, 2.0F), width, placement),
      y(element, kRows, width, placement);
  run_kernel(std::string("layer_norm") + suffix(element),
             gpu::LayerNormArgs{x.data(), x.stride(), y.data(), y.stride(), scale.data(), shift.data(),
                                static_cast<int>(kRows), static_cast<int>(width)});
  return y.values();
}

std::vector<float> run_encoder(Element element, Placement placement, size_t head) {
  constexpr int kPositions = 70, kWindows = 2;
  const size_t width = kHeads * head;
  KernelRows qkv(element, random_floats(kPositions * kWindows * 3 * width, 8), 3 * width, placement);
  KernelRows out(element, kPositions * kWindows, width, placement);
  run_kernel(std::string("attend_encoder_simt") + suffix(element),
             gpu::EncoderAttentionArgs{qkv.data(), qkv.stride(), out.data(), out.stride(), kPositions,
                                       kWindows, kHeads, static_cast<int>(head), 0.2F});
  return out.values();
}

// A prompt of three rows behind a long past, and a lone row of another slot.
std::vector<float> run_self(Element element, Placement placement, size_t head) {
  constexpr int kCapacity = 450, kSlots = 2;
  const size_t width = kHeads * head;
  const std::vector<DeviceRow> rows{
      {0, 400, 1, 0, 0, {}}, {0, 401, 1, 0, 0, {}}, {0, 402, 1, 0, 0, {}}, {0, 9, 0, 0, 3, {}}};
  KernelRows qkv(element, random_floats(rows.size() * 3 * width, 9), 3 * width, placement);
  // Without gaps between its rows, the cache is aligned or not as a whole.
  const auto past = random_floats(kSlots * kCapacity * 2 * width, 10);
  KernelRows cache(element, past, past.size(), placement), out(element, rows.size(), width, placement);
  run_kernel(
      std::string("attend_self") + suffix(element),
      gpu::SelfAttentionArgs{qkv.data(), qkv.stride(), cache.data(), rows.data(), out.data(), out.stride(),
                             static_cast<int>(rows.size()), kCapacity, kHeads, static_cast<int>(head), 0.2F});
  return out.values();
}

std::vector<float> run_cross(Element element, Placement placement, size_t head) {
  constexpr int kPositions = 500, kWindows = 2,
                kChunks = (kPositions + gpu::kCrossChunk - 1) / gpu::kCrossChunk;
  const size_t width = kHeads * head;
  const std::vector<DeviceRow> rows{{0, 0, 0, 1, 0, {}}, {0, 0, 1, 0, 1, {}}, {0, 0, 2, 1, 2, {}}};
  KernelRows query(element, random_floats(rows.size() * width, 11), width, placement);
  const auto past = random_floats(kWindows * kPositions * 2 * width, 12);
  KernelRows cache(element, past, past.size(), placement), out(element, rows.size(), width, placement);
  std::vector<float> partial(rows.size() * kHeads * kChunks * (head + 2));
  std::vector<unsigned> done(rows.size() * kHeads);
  run_kernel(std::string("attend_cross") + suffix(element),
             gpu::CrossAttentionArgs{query.data(), query.stride(), cache.data(), rows.data(), out.data(),
                                     out.stride(), partial.data(), done.data(), static_cast<int>(rows.size()),
                                     kPositions, kHeads, static_cast<int>(head), 0.2F});
  EXPECT_EQ(done, std::vector<unsigned>(done.size()));  // ready for the next launch
  return out.values();
}

TEST(GpuKernels, WideLoadsChangeNoBit) {
  for (const Element element : kElements) {
    SCOPED_TRACE(suffix(element));
    const auto same = [&](auto run, const char* what) {
      EXPECT_EQ(run(Placement::aligned), run(Placement::odd)) << what;
    };
    same([&](Placement p) { return run_linear("linear_few_simt", element, p, false, false); }, "few rows");
    same([&](Placement p) { return run_linear("linear_few_simt_i8", element, p, true, false); },
         "few rows, int8");
    same([&](Placement p) { return run_linear("linear_many_simt", element, p, false, true); }, "many rows");
    same([&](Placement p) { return run_layer_norm(element, p, 384); }, "layer norm");
    for (const size_t head : {size_t{64}, size_t{32}}) {
      same([&](Placement p) { return run_encoder(element, p, head); }, "encoder attention");
      same([&](Placement p) { return run_self(element, p, head); }, "self-attention");
      same([&](Placement p) { return run_cross(element, p, head); }, "cross-attention");
    }
  }
}

TEST(GpuKernels, TheOrderOfBlocksChangesNoBit) {
  const auto forward = run_cross(Element::f16, Placement::aligned, 64);
  gpu::emulated::last_block_first = true;
  const auto backward = run_cross(Element::f16, Placement::aligned, 64);
  gpu::emulated::last_block_first = false;
  EXPECT_EQ(forward, backward);
}

// --- rows wider than the registers hold ---

TEST(GpuKernels, LayerNormOfWideRows) {
  for (const size_t width : {size_t{1280}, size_t{1281}, size_t{2000}, size_t{5}})
    for (const Element element : kElements) {
      const auto x = rounded(element, random_floats(5 * width, 7, 2.0F));
      const auto expected = reference::layer_norm(x, random_floats(width, 5), random_floats(width, 6));
      EXPECT_LT(relative_error(run_layer_norm(element, Placement::odd, width), expected), tolerance(element))
          << width << suffix(element);
    }
}

// --- the layout of the tensor cores ---

// A row of an embedding table, read out of a matrix in either layout.
std::vector<float> embedded(const std::string& table, Element element, const PackedMatrix& matrix, int width,
                            gpu::Layout layout, int token) {
  const DeviceRow row{token, 0, 0, 0, 0, {}};
  const size_t columns = static_cast<size_t>(width);
  KernelRows positions(element, std::vector<float>(columns), columns, Placement::odd);
  KernelRows out(element, 1, columns, Placement::odd);
  run_kernel("embed" + table + suffix(element),
             gpu::EmbedArgs{matrix.bytes.data(), matrix.scales.data(), positions.data(), positions.stride(),
                            &row, out.data(), out.stride(), 1, width, matrix.padded_inputs, layout});
  return out.values();
}

TEST(GpuKernels, FragmentsHoldTheSameWeights) {
  constexpr int kOutputs = 37, kInputs = 96;
  const auto weights = random_floats(kOutputs * kInputs, 13);
  for (const Element element : {Element::f16, Element::bf16})
    for (const bool int8 : {false, true}) {
      const std::string type = int8 ? "i8" : type_name(element), table = int8 ? "_i8" : "";
      const PackedMatrix rows = pack(type, weights, kOutputs, kInputs);
      const PackedMatrix fragments = pack(type, weights, kOutputs, kInputs, gpu::Layout::fragments);
      for (int token = 0; token < kOutputs; ++token)
        EXPECT_EQ(embedded(table, element, rows, kInputs, gpu::Layout::rows, token),
                  embedded(table, element, fragments, kInputs, gpu::Layout::fragments, token))
            << type << suffix(element) << ", output " << token;
    }
}

TEST(GpuKernels, DequantisedWeightsAreWithinHalfAStep) {
  constexpr int kOutputs = 6, kInputs = 40;
  const auto weights = random_floats(kOutputs * kInputs, 14);
  PackedMatrix matrix = pack("i8", weights, kOutputs, kInputs);
  std::vector<float> out(static_cast<size_t>(kOutputs * matrix.padded_inputs));
  run_kernel("dequantize_f32",
             gpu::DequantizeArgs{reinterpret_cast<const signed char*>(matrix.bytes.data()),
                                 matrix.scales.data(), out.data(), kOutputs, matrix.padded_inputs});
  for (size_t i = 0; i < weights.size(); ++i)
    EXPECT_LE(std::abs(out[i] - weights[i]), 0.501F * matrix.scales[i / kInputs]) << i;
}

}  // namespace
}  // namespace sotto::test
