#include "engine/bench.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend/cpu/cpu_backend.h"
#include "backend/cpu/peak.h"
#include "base/error.h"
#include "device/choice.h"
#include "device/detect.h"
#include "engine/bench_operations.h"
#include "model/random_checkpoint.h"
#include "platform/cpu_features.h"
#include "whisper/network.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

std::vector<NamedShape> chosen_shapes(std::string_view names) {
  std::vector<NamedShape> chosen;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    const auto found = std::find_if(named_shapes().begin(), named_shapes().end(),
                                    [&](const auto& s) { return s.name == name; });
    if (found == named_shapes().end()) {
      std::string known;
      for (const NamedShape& shape : named_shapes())
        known += (known.empty() ? "" : ", ") + std::string(shape.name);
      throw Error(ErrorCode::usage, "there is no model shape '{}'; there are {}", name, known);
    }
    chosen.push_back(*found);
  }
  return chosen;
}

// The shortest of several runs: what the machine can do when nothing else runs.
template <class Body>
double best_seconds(int most_runs, double most_seconds, Body body) {
  using Clock = std::chrono::steady_clock;
  double best = 1e30, spent = 0;
  for (int run = 0; run < most_runs && (run < 2 || spent < most_seconds); ++run) {
    const auto begin = Clock::now();
    body();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    spent += seconds;
    best = std::min(best, seconds);
  }
  return best;
}

Json result(std::string_view shape, std::string_view stage, ComputeType type, double seconds, double work,
            std::string_view unit, double ceiling) {
  const double achieved = work / seconds / 1e9;
  return {{"shape", shape},
          {"stage", stage},
          {"type", compute_type_name(type)},
          {"milliseconds", seconds * 1e3},
          {"achieved", achieved},
          {"unit", unit},
          {"ceiling", ceiling},
          {"fraction", achieved / ceiling}};
}

// Seconds of the encoder and of one decoding step, and what a step reads.
struct NetworkTimes {
  double loading, encoding, decoding, step_bytes;
};

NetworkTimes time_network(Backend& backend, const Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config;
  std::unique_ptr<Network> network;
  const double loading =
      best_seconds(1, 0, [&] { network = std::make_unique<Network>(backend, checkpoint); });
  Session session(*network, 1, 1);
  std::vector<float> mel(static_cast<size_t>(network->mel_frames() * config.mel_bins));
  std::minstd_rand random(2);
  for (float& value : mel) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;

  int position = 0;
  const std::array point{SamplePoint{}};
  const auto step = [&] {
    const std::array row{DecodeRow{100 + position, position, 0, 0}};
    ++position;
    session.decode(row, point);
  };
  // A device may still be at work when a call returns; a step waits for it.
  session.encode(0, mel);
  for (int i = 0; i < 32; ++i) step();
  const double decoding = best_seconds(200, 2.0, step);
  const auto bytes = static_cast<double>(session.step_bytes(position));
  const double with_step = best_seconds(20, 2.0, [&] {
    session.encode(0, mel);
    step();
  });
  return {loading, std::max(with_step - decoding, 1e-9), decoding, bytes};
}

void add_network(Json& results, std::string_view shape, const ModelConfig& config, ComputeType type,
                 const NetworkTimes& times, double arithmetic_ceiling, double bytes_ceiling) {
  const bool integer =
      type == ComputeType::int8 || type == ComputeType::int8_float32 || type == ComputeType::int8_float16;
  results.push_back(result(shape, "encoder", type, times.encoding, encoder_operations(config),
                           integer ? "Gop/s" : "GFLOP/s", arithmetic_ceiling));
  results.push_back(
      result(shape, "one token", type, times.decoding, times.step_bytes, "GB/s", bytes_ceiling));
  results.back()["load_milliseconds"] = times.loading * 1e3;
}

std::string bench_cpu(const Options& options, const std::vector<NamedShape>& wanted,
                      FunctionRef<void(const std::string&)> on_step) {
  std::vector<ComputeType> types{ComputeType::float32, ComputeType::int8};
  if (options.compute_type != "auto") types = {compute_type_from_name(options.compute_type).value()};
  on_step("measuring what the machine can do");
  const int threads = options.threads > 0 ? options.threads : cpu_features().physical_cores;
  const CpuPeaks peaks = measure_cpu_peaks(threads);
  const double f32_peak = peaks.float_operations_per_second / 1e9,
               int8_peak = peaks.int8_operations_per_second / 1e9,
               read_peak = peaks.read_bytes_per_second / 1e9;
  Json document{
      {"machine", {{"cpu", cpu_features().name}, {"isa", cpu_isas().front()}, {"threads", threads}}},
      {"ceilings", {{"f32_gflops", f32_peak}, {"int8_gops", int8_peak}, {"read_gb_s", read_peak}}},
      {"results", Json::array()}};
  for (const NamedShape& shape : wanted) {
    const Checkpoint checkpoint = random_checkpoint(shape.config);
    for (const ComputeType type : types) {
      on_step(fmt::format("{} in {}", shape.name, compute_type_name(type)));
      const auto backend = make_cpu_backend({.compute_type = type, .threads = options.threads});
      const bool integer = type == ComputeType::int8 || type == ComputeType::int8_float32;
      add_network(document["results"], shape.name, shape.config, type, time_network(*backend, checkpoint),
                  integer ? int8_peak : f32_peak, read_peak);
    }
  }
  return document.dump();
}

// A GPU: each operation, then the network.
std::string bench_device(const Options& options, const std::vector<NamedShape>& wanted,
                         FunctionRef<void(const std::string&)> on_step) {
  const DeviceRequest request{options.device, "", compute_type_from_name(options.compute_type).value(),
                              options.threads, false};
  const OpenedDevice opened =
      open_device(request, find_devices({.probe_timeout = probe_timeout(options)}), built_in_backends(),
                  [](const Device&, Backend&) { return std::optional<Finding>(); });
  const BackendEntry* entry = find_backend(built_in_backends(), opened.device.kind);
  if (entry == nullptr || entry->measure == nullptr)
    throw Error(ErrorCode::unsupported, "the benchmark cannot measure '{}'", options.device);
  on_step("measuring what the device can do");
  Backend& backend = *opened.backend;
  const DeviceCeilings ceilings = entry->measure(backend);
  const double arithmetic = ceilings.float_operations_per_second / 1e9,
               bytes = ceilings.copy_bytes_per_second / 1e9;
  Json document{{"machine",
                 {{"device", opened.device.name},
                  {"driver", opened.device.driver},
                  {"kernels", backend.description()}}},
                {"ceilings", {{"multiply_add_gflops", arithmetic}, {"copy_gb_s", bytes}}},
                {"operations", Json::array()},
                {"results", Json::array()}};
  for (const NamedShape& shape : wanted) {
    on_step(fmt::format("{} in {}", shape.name, compute_type_name(backend.compute_type())));
    for (const Json& operation : bench_operations(backend, shape.name, shape.config, ceilings))
      document["operations"].push_back(operation);
    add_network(document["results"], shape.name, shape.config, backend.compute_type(),
                time_network(backend, random_checkpoint(shape.config)), arithmetic, bytes);
  }
  return document.dump();
}

}  // namespace

std::string run_bench(const Options& options, std::string_view names,
                      FunctionRef<void(const std::string&)> on_step) {
  const std::vector<NamedShape> wanted = chosen_shapes(names);
  const auto kind = parse_device_name(options.device).kind;
  return kind && *kind != DeviceKind::cpu ? bench_device(options, wanted, on_step)
                                          : bench_cpu(options, wanted, on_step);
}

}  // namespace sotto
