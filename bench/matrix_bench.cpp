// Matrix products of the CPU backend as fractions of what the machine gives to loops that do nothing else,
// all measured in one run: `matrix_bench [THREADS] [ISA]`.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
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

double seconds_of(auto&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The best of the repetitions that fit into a tenth of a second.
double best_seconds(auto&& work) {
  work();
  double best = 1e30, spent = 0;
  for (int repetition = 0; repetition < 3 || (spent < 0.1 && repetition < 200); ++repetition) {
    const double seconds = seconds_of(work);
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

struct RandomWeights {
  RandomWeights(size_t outputs, size_t inputs) : values(outputs * inputs) {
    std::minstd_rand random(1);
    for (float& value : values) value = static_cast<float>(random() % 2001) * 1e-3f - 1.0f;
    view.shape = {static_cast<int64_t>(outputs), static_cast<int64_t>(inputs)};
    view.data = std::as_bytes(std::span(values));
  }
  std::vector<float> values;
  TensorView view;
};

struct Layer {
  Layer(Backend& backend, size_t rows, size_t outputs, size_t inputs) : engine(backend) {
    const RandomWeights weights(outputs, inputs);
    const Backend::MatrixPart part{&weights.view, nullptr};
    matrix = backend.pack_matrix({&part, 1});
    x_memory = backend.allocate(rows * inputs);
    y_memory = backend.allocate(rows * outputs);
    x = {x_memory.get(), 0, rows, inputs, inputs};
    y = {y_memory.get(), 0, rows, outputs, outputs};
    const RandomWeights activations(rows, inputs);
    backend.write(x, activations.values);
  }
  void run(bool gelu = false) const { engine.linear(*matrix, x, y, {.gelu = gelu}); }

  Backend& engine;
  std::unique_ptr<Matrix> matrix;
  std::unique_ptr<Memory> x_memory, y_memory;
  Rows x, y;
};

std::unique_ptr<Backend> make_backend(ComputeType type, int threads, const std::string& isa) {
  return make_cpu_backend({.compute_type = type, .threads = threads, .isa = isa});
}

constexpr ComputeType kTypes[] = {ComputeType::float32, ComputeType::float16, ComputeType::bfloat16,
                                  ComputeType::int8};

void bench_many_rows(const CpuPeaks& peaks, int threads, const std::string& isa) {
  constexpr size_t kRows = 1500;
  constexpr std::pair<size_t, size_t> kShapes[] = {{384, 384}, {1536, 384}, {384, 1536},
                                                   {512, 512}, {2048, 512}, {512, 2048},
                                                   {768, 768}, {3072, 768}, {768, 3072}};
  fmt::print(
      "\n{} rows: Gop/s, fraction of the float32 ceiling (int8: times the float32 rate, fraction of the int8 "
      "ceiling)\n{:>6} {:>6}",
      kRows, "out", "in");
  for (const ComputeType type : kTypes) fmt::print("{:>20}", compute_type_name(type));
  fmt::print("{:>20}\n", "int8 with GELU");
  for (const auto& [outputs, inputs] : kShapes) {
    fmt::print("{:>6} {:>6}", outputs, inputs);
    const double operations = 2.0 * kRows * static_cast<double>(outputs * inputs);
    double float_rate = 0;
    for (const ComputeType type : kTypes) {
      const auto backend = make_backend(type, threads, isa);
      const Layer layer(*backend, kRows, outputs, inputs);
      const double rate = operations / best_seconds([&] { layer.run(); });
      if (type == ComputeType::float32) float_rate = rate;
      if (type != ComputeType::int8) {
        fmt::print("{:>12.0f} {:>6.1f}%", rate * 1e-9, 100 * rate / peaks.float_operations_per_second);
        continue;
      }
      fmt::print("{:>8.0f} {:>4.2f}x {:>4.0f}%", rate * 1e-9, rate / float_rate,
                 100 * rate / peaks.int8_operations_per_second);
      fmt::print("{:>13.2f}x", operations / best_seconds([&] { layer.run(true); }) / float_rate);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
}

void bench_one_row(const CpuPeaks& peaks, int threads, const std::string& isa) {
  constexpr std::pair<size_t, size_t> kShapes[] = {
      {384, 384}, {1536, 384}, {768, 3072}, {51865, 384}, {51865, 768}};
  fmt::print(
      "\n1 row: GB/s, fraction of the read bandwidth (over 100% where the weights fit the caches)\n{:>6} "
      "{:>6}",
      "out", "in");
  for (const ComputeType type : kTypes) fmt::print("{:>17}", compute_type_name(type));
  fmt::print("\n");
  for (const auto& [outputs, inputs] : kShapes) {
    fmt::print("{:>6} {:>6}", outputs, inputs);
    for (const ComputeType type : kTypes) {
      const auto backend = make_backend(type, threads, isa);
      const Layer layer(*backend, 1, outputs, inputs);
      const double rate = static_cast<double>(layer.matrix->bytes()) / best_seconds([&] { layer.run(); });
      fmt::print("{:>10.1f} {:>5.0f}%", rate * 1e-9, 100 * rate / peaks.read_bytes_per_second);
    }
    fmt::print("\n");
    std::fflush(stdout);
  }
}

void bench_packing(int threads, const std::string& isa) {
  constexpr size_t kOutputs = 51865,
                   kInputs = 768;  // 39.8 million weights, as many as whisper-tiny has in all
  const RandomWeights weights(kOutputs, kInputs);
  const Backend::MatrixPart part{&weights.view, nullptr};
  fmt::print("\npacking {:.1f} million weights from float32:",
             static_cast<double>(kOutputs * kInputs) * 1e-6);
  for (const ComputeType type : kTypes) {
    const auto backend = make_backend(type, threads, isa);
    double best = 1e30;
    for (int i = 0; i < 3; ++i) best = std::min(best, seconds_of([&] { backend->pack_matrix({&part, 1}); }));
    fmt::print(" {} {:.0f} ms", compute_type_name(type), best * 1e3);
  }
  fmt::print("\n");
}

int run(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  const std::string isa = argc > 2 ? argv[2] : "";
  const CpuPeaks peaks = measure_cpu_peaks(threads, isa);
  fmt::print("{}\nceilings: float32 {:.0f} GFLOP/s, int8 {:.0f} Gop/s, reading {:.1f} GB/s\n",
             make_backend(ComputeType::automatic, threads, isa)->description(),
             peaks.float_operations_per_second * 1e-9, peaks.int8_operations_per_second * 1e-9,
             peaks.read_bytes_per_second * 1e-9);
  bench_many_rows(peaks, threads, isa);
  bench_one_row(peaks, threads, isa);
  bench_packing(threads, isa);
  return 0;
}

}  // namespace
}  // namespace sotto

int main(int argc, char** argv) {
  try {
    return sotto::run(argc, argv);
  } catch (const sotto::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
