// Attention, layer norm and sampling of the CPU backend as fractions of what the machine gives to loops that
// do nothing else, all measured in one run: `attention_bench [THREADS] [ISA]`.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/peak.h"
#include "base/error.h"

namespace sotto {
namespace {

constexpr size_t kHead = 64, kPositions = 1500;

// The best of the repetitions that fit into half a second: on a shared machine most of them are disturbed.
double best_seconds(auto&& work) {
  work();
  double best = 1e30, spent = 0;
  for (int repetition = 0; repetition < 5 || (spent < 0.5 && repetition < 2000); ++repetition) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

std::vector<float> random_values(size_t count) {
  std::minstd_rand random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

struct Buffer {
  Buffer(Backend& backend, size_t count, size_t width)
      : memory(backend.allocate(count * width)), rows{memory.get(), 0, count, width, width} {
    backend.write(rows, random_values(count * width));
  }
  std::unique_ptr<Memory> memory;
  Rows rows;
};

std::vector<float> encoder_output(Backend& backend, const Buffer& qkv, const Buffer& out, int heads) {
  backend.attend_encoder(qkv.rows, out.rows, heads, 1);
  std::vector<float> values(out.rows.count * out.rows.width);
  backend.read(out.rows, values);
  return values;
}

double relative_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(double{a[i]} - b[i], 2);
    size += std::pow(double{b[i]}, 2);
  }
  return std::sqrt(difference / size);
}

void bench_encoder(Backend& full, Backend& int8, const CpuPeaks& peaks) {
  fmt::print("\nencoder attention, {} positions: fraction of the float32 ceiling; int8 against float32\n",
             kPositions);
  for (const int heads : {6, 8, 12}) {
    const size_t width = static_cast<size_t>(heads) * kHead;
    const double operations = 4.0 * kPositions * kPositions * static_cast<double>(width);
    double seconds[2];
    std::vector<float> outputs[2];
    for (const int index : {0, 1}) {
      Backend* const backend = index == 0 ? &full : &int8;
      const Buffer qkv(*backend, kPositions, 3 * width), out(*backend, kPositions, width);
      seconds[index] = best_seconds([&] { backend->attend_encoder(qkv.rows, out.rows, heads, 1); });
      outputs[index] = encoder_output(*backend, qkv, out, heads);
    }
    fmt::print(
        "{:3} heads: {:.2f} ms, {:.0f}%;  int8 {:.2f} ms, {:.2f} times as fast, relative error {:.1e}\n",
        heads, seconds[0] * 1e3, 100 * operations / seconds[0] / peaks.float_operations_per_second,
        seconds[1] * 1e3, seconds[0] / seconds[1], relative_difference(outputs[1], outputs[0]));
  }
}

// Many layers, so that the keys and values come from memory and not from a cache.
void bench_cross(Backend& backend, const CpuPeaks& peaks) {
  const size_t element = backend.compute_type() == ComputeType::float32 ? 4 : 2;
  for (const int heads : {6, 12, 20}) {
    constexpr int kLayers = 24;
    const size_t width = static_cast<size_t>(heads) * kHead;
    const auto cache = backend.make_cross_cache({kLayers, 1, kPositions, heads, static_cast<int>(width)});
    const Buffer kv(backend, kPositions, 2 * width);
    for (int layer = 0; layer < kLayers; ++layer) backend.store_cross(*cache, layer, 0, kv.rows);
    for (const size_t beams : {1, 5}) {
      const Buffer q(backend, beams, width), out(backend, beams, width);
      const std::vector<DecodeRow> rows(beams);
      const double seconds = best_seconds([&] {
        for (int layer = 0; layer < kLayers; ++layer)
          backend.attend_cross(*cache, layer, q.rows, rows, out.rows);
      });
      const double bytes = static_cast<double>(kLayers * kPositions * 2 * width * element);
      fmt::print("{:>9} {:3} heads, {} rows: {:.1f} GB/s, {:.0f}% of the read bandwidth\n",
                 compute_type_name(backend.compute_type()), heads, beams, bytes / seconds / 1e9,
                 100 * bytes / seconds / peaks.read_bytes_per_second);
    }
  }
}

void bench_rows(Backend& backend) {
  constexpr size_t kWidth = 512, kVocabulary = 51865;
  const std::vector<float> ones(kWidth, 1.0f);
  const TensorView view{.dtype = DType::f32, .shape = {kWidth}, .data = std::as_bytes(std::span(ones))};
  const auto norm = backend.pack_norm(view, view);
  const Buffer x(backend, kPositions, kWidth), y(backend, kPositions, kWidth),
      logits(backend, 1, kVocabulary);
  const double norm_seconds = best_seconds([&] { backend.layer_norm(*norm, x.rows, y.rows); });
  fmt::print("\nlayer norm, {} rows of {}: {:.1f} GB/s read and written\n", kPositions, kWidth,
             2.0 * kPositions * kWidth * sizeof(float) / norm_seconds / 1e9);
  const SampleRequest request{.timestamp_begin = 50364, .candidates = 5, .probe = 50362};
  const double sample_seconds = best_seconds([&] { backend.sample(logits.rows, {&request, 1}); });
  fmt::print("sampling one row of {}: {:.0f} microseconds\n", kVocabulary, sample_seconds * 1e6);
}

void run(int threads, const std::string& isa) {
  const auto full = make_cpu_backend({.compute_type = ComputeType::float32, .threads = threads, .isa = isa});
  const auto int8 = make_cpu_backend({.compute_type = ComputeType::int8, .threads = threads, .isa = isa});
  const CpuPeaks peaks = measure_cpu_peaks(threads, isa);
  fmt::print("{}: {:.0f} Gflop/s in float32, {:.1f} GB/s read\n", full->description(),
             peaks.float_operations_per_second / 1e9, peaks.read_bytes_per_second / 1e9);
  bench_encoder(*full, *int8, peaks);
  fmt::print("\ncross-attention of single tokens\n");
  bench_cross(*full, peaks);
  bench_cross(*int8, peaks);
  bench_rows(*full);
}

}  // namespace
}  // namespace sotto

int main(int argc, char** argv) {
  try {
    sotto::run(argc > 1 ? std::atoi(argv[1]) : 2, argc > 2 ? argv[2] : "");
    return 0;
  } catch (const sotto::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
