#include "engine/bench_operations.h"

#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <random>

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

std::vector<float> random_values(size_t count) {
  std::minstd_rand random(3);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  return values;
}

class OperationBench {
 public:
  OperationBench(Backend& backend, std::string_view shape, const ModelConfig& config,
                 const DeviceCeilings& ceilings)
      : backend_(backend), shape_(shape), config_(config), ceilings_(ceilings) {}

  Json run() {
    const auto width = static_cast<size_t>(config_.width), hidden = static_cast<size_t>(config_.encoder_ffn);
    const auto positions = static_cast<size_t>(config_.audio_positions);
    linear("matrix, encoder", MatrixUse::many_rows, positions, width, hidden);
    linear("matrix, encoder, long", MatrixUse::many_rows, positions, hidden, width);
    linear("matrix, one row", MatrixUse::few_rows, 1, width, hidden);
    linear("matrix, vocabulary", MatrixUse::few_rows, 1, width, static_cast<size_t>(config_.vocabulary));
    layer_norm(positions, width);
    encoder_attention(positions, width);
    cached_attention(width);
    sample(static_cast<size_t>(config_.vocabulary));
    return std::move(results_);
  }

 private:
  size_t element() const {  // bytes of an activation
    const ComputeType type = backend_.compute_type();
    return type == ComputeType::float16 || type == ComputeType::int8_float16 ? 2 : 4;
  }

  Rows rows(const Memory& memory, size_t count, size_t width) {
    return {const_cast<Memory*>(&memory), 0, count, width, width};
  }

  // Until `most_seconds` are over, at least twice; the device is waited for by reading one value of `out`.
  void measure(std::string_view operation, double arithmetic, double bytes, const Rows& out,
               const std::function<void()>& issue) {
    constexpr double kMostSeconds = 1.0;
    constexpr int kMostRuns = 20;
    double best = std::numeric_limits<double>::infinity(), spent = 0;
    std::array<float, 1> one{};
    for (int run = 0; run <= kMostRuns && (run < 3 || spent < kMostSeconds); ++run) {
      const auto begin = Clock::now();
      issue();
      backend_.read({out.memory, out.offset, 1, 1, 1}, one);
      const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (run == 0) continue;  // it may compile
      spent += seconds;
      best = std::min(best, seconds);
    }
    results_.push_back({{"shape", shape_},
                        {"operation", operation},
                        {"type", compute_type_name(backend_.compute_type())},
                        {"milliseconds", best * 1e3},
                        {"MFLOP", arithmetic / 1e6},
                        {"MB", bytes / 1e6},
                        {"GFLOP/s", arithmetic / best / 1e9},
                        {"of multiply-add", arithmetic / best / ceilings_.float_operations_per_second},
                        {"GB/s", bytes / best / 1e9},
                        {"of copy", bytes / best / ceilings_.copy_bytes_per_second}});
  }

  std::unique_ptr<Memory> filled(size_t count) {
    auto memory = backend_.allocate(count);
    backend_.write(rows(*memory, 1, count), random_values(count));
    return memory;
  }

  void linear(std::string_view name, MatrixUse use, size_t count, size_t inputs, size_t outputs) {
    const std::vector<float> values = random_values(outputs * inputs);
    const TensorView view{DType::f32,
                          {static_cast<int64_t>(outputs), static_cast<int64_t>(inputs)},
                          std::as_bytes(std::span(values)),
                          {},
                          nullptr};
    const Backend::MatrixPart part{&view, nullptr};
    const auto matrix = backend_.pack_matrix({&part, 1}, use);
    const auto x = filled(count * inputs), y = backend_.allocate(count * outputs);
    const Rows in = rows(*x, count, inputs), out = rows(*y, count, outputs);
    measure(name, 2.0 * static_cast<double>(count * inputs) * static_cast<double>(outputs),
            static_cast<double>(matrix->bytes() + (count * inputs + count * outputs) * element()), out,
            [&] { backend_.linear(*matrix, in, out); });
  }

  void layer_norm(size_t count, size_t width) {
    const std::vector<float> values = random_values(width);
    const TensorView view{
        DType::f32, {static_cast<int64_t>(width)}, std::as_bytes(std::span(values)), {}, nullptr};
    const auto norm = backend_.pack_norm(view, view);
    const auto x = filled(count * width), y = backend_.allocate(count * width);
    const Rows in = rows(*x, count, width), out = rows(*y, count, width);
    measure("layer norm", 8.0 * static_cast<double>(count * width),
            static_cast<double>(2 * count * width * element()), out,
            [&] { backend_.layer_norm(*norm, in, out); });
  }

  void encoder_attention(size_t positions, size_t width) {
    const auto qkv = filled(positions * 3 * width), y = backend_.allocate(positions * width);
    const Rows in = rows(*qkv, positions, 3 * width), out = rows(*y, positions, width);
    measure("encoder attention",
            4.0 * static_cast<double>(positions * positions) * static_cast<double>(width),
            static_cast<double>(4 * positions * width * element()), out,
            [&] { backend_.attend_encoder(in, out, config_.encoder_heads, 1); });
  }

  void cached_attention(size_t width) {
    const auto cache =
        backend_.make_cross_cache({1, 1, config_.audio_positions, config_.decoder_heads, config_.width});
    const auto positions = static_cast<size_t>(config_.audio_positions);
    const auto kv = filled(positions * 2 * width), q = filled(width), y = backend_.allocate(width);
    backend_.store_cross(*cache, 0, 0, rows(*kv, positions, 2 * width));
    const std::array row{DecodeRow{}};
    const Rows in = rows(*q, 1, width), out = rows(*y, 1, width);
    measure("cached attention, one row", 4.0 * static_cast<double>(positions * width),
            static_cast<double>(cache->window_bytes()), out,
            [&] { backend_.attend_cross(*cache, 0, in, row, out); });
  }

  void sample(size_t vocabulary) {
    const auto memory = backend_.allocate(vocabulary, Precision::full);
    const Rows logits = rows(*memory, 1, vocabulary);
    backend_.write(logits, random_values(vocabulary));
    const std::array request{SampleRequest{}};
    measure("sample, one row", 4.0 * static_cast<double>(vocabulary),
            static_cast<double>(vocabulary * sizeof(float)), logits,
            [&] { backend_.sample(logits, request); });
  }

  Backend& backend_;
  const std::string_view shape_;
  const ModelConfig& config_;
  const DeviceCeilings& ceilings_;
  Json results_ = Json::array();
};

}  // namespace

nlohmann::ordered_json bench_operations(Backend& backend, std::string_view shape, const ModelConfig& config,
                                        const DeviceCeilings& ceilings) {
  return OperationBench(backend, shape, config, ceilings).run();
}

}  // namespace sotto
