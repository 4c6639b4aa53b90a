// What a GPU reaches with models of the official shapes and random weights, against the machine's own
// ceilings, in one run: gpu_bench LIBRARY MATRIX_TFLOPS [SHAPE:BATCH[:TYPE[:PATH[:stages]]] ...]
// MATRIX_TFLOPS is the matrix rate to compare with, measured just before by other means (tools/gpu_check does
// so).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "backend/gpu/context.h"
#include "backend/gpu/gpu_backend.h"
#include "backend/gpu/queue.h"
#include "base/error.h"
#include "model/random_checkpoint.h"
#include "whisper/network.h"

namespace {

using namespace sotto;
using Clock = std::chrono::steady_clock;

constexpr int kTokens = 128;
constexpr double kWindowSeconds = 30;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Bytes read and written a second by a plain copy on the device.
double copy_bandwidth(const std::shared_ptr<gpu::Context>& context) {
  constexpr size_t kBytes = size_t{2} << 30;
  const gpu::Entered scope(*context);
  gpu::Queue queue(context);
  const gpu::Buffer from(context, kBytes), to(context, kBytes);
  queue.fill_zero(from.address(), kBytes, 1, kBytes);
  std::vector<double> times;
  for (int run = 0; run < 7; ++run) {
    queue.synchronize();
    const auto begin = Clock::now();
    for (int i = 0; i < 4; ++i) queue.copy(to.address(), from.address(), kBytes);
    queue.synchronize();
    times.push_back(seconds_since(begin) / 4);
  }
  return 2.0 * kBytes / median(times);
}

class Run {
 public:
  Run(Backend& backend, const Network& network, int batch)
      : backend_(backend),
        network_(network),
        batch_(batch),
        session_(network, batch, batch),
        probe_(backend.allocate(64)) {
    std::minstd_rand random(2);
    mel_.resize(static_cast<size_t>(network.mel_frames() * network.config().mel_bins));
    for (float& value : mel_) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    for (int token = 0; token < 90; ++token) suppressed_.push_back(token * 500);
    for (int i = 0; i < batch; ++i) items_.push_back({i, mel_});
  }

  void wait() {
    float value = 0;
    backend_.read({probe_.get(), 0, 1, 1, 1}, {&value, 1});
  }
  double encode() {
    const auto begin = Clock::now();
    session_.encode(items_);
    wait();
    return seconds_since(begin);
  }
  // A prompt of four tokens, then one token of every window at a time.
  double decode() {
    const auto begin = Clock::now();
    std::vector<DecodeRow> rows;
    std::vector<SamplePoint> points;
    SampleRequest request;
    request.suppressed = suppressed_;
    request.timestamp_begin = 50364;
    for (int i = 0; i < batch_; ++i) {
      for (int position = 0; position < 4; ++position) rows.push_back({50258 + position, position, i, i});
      points.push_back({rows.size() - 1, request});
    }
    auto results = session_.decode(rows, points);
    for (int step = 1; step < kTokens; ++step) {
      rows.clear();
      points.clear();
      for (int i = 0; i < batch_; ++i) {
        rows.push_back({results[static_cast<size_t>(i)].candidates.front().token, 3 + step, i, i});
        points.push_back({static_cast<size_t>(i), request});
      }
      results = session_.decode(rows, points);
    }
    return seconds_since(begin);
  }
  // Bytes that a step in the middle of the text reads: the weights once, every window's own caches.
  double step_bytes() const {
    const auto own = static_cast<double>(session_.step_bytes(4 + kTokens / 2) - network_.decoder_bytes());
    return static_cast<double>(network_.decoder_bytes()) + own * batch_;
  }

 private:
  Backend& backend_;
  const Network& network_;
  int batch_;
  Session session_;
  std::unique_ptr<Memory> probe_;
  std::vector<float> mel_;
  std::vector<EncodeItem> items_;
  std::vector<int32_t> suppressed_;
};

// One operation of a decoding step again and again, as a recording: what it takes on the device alone.
class Stages {
 public:
  Stages(Backend& backend, const ModelConfig& config, int batch, double copy_rate)
      : backend_(backend), config_(config), rows_count_(static_cast<size_t>(batch)), copy_rate_(copy_rate) {
    const Checkpoint checkpoint = random_checkpoint(config);
    const auto width = static_cast<size_t>(config.width);
    const auto tensor = [&](const std::string& name) { return &checkpoint.tensors.at(name); };
    const auto matrix = [&](const std::string& name) {
      const Backend::MatrixPart part{tensor(name + ".weight"), nullptr};
      return backend.pack_matrix({&part, 1}, MatrixUse::few_rows);
    };
    // Several copies, so that what is read does not come from the cache.
    for (size_t i = 0; i < kCopies; ++i) {
      square_.push_back(matrix("decoder.layers.0.self_attn.out_proj"));
      expand_.push_back(matrix("decoder.layers.0.fc1"));
      contract_.push_back(matrix("decoder.layers.0.fc2"));
    }
    table_ = matrix("decoder.embed_tokens");
    norm_ = backend.pack_norm(*tensor("decoder.layer_norm.weight"), *tensor("decoder.layer_norm.bias"));
    state_ = backend.allocate(rows_count_ * width);
    wide_ = backend.allocate(rows_count_ * 4 * width);
    logits_ = backend.allocate(rows_count_ * static_cast<size_t>(config.vocabulary), Precision::full);
    self_ = backend.make_self_cache({2, batch, config.text_positions, config.decoder_heads, config.width});
    cross_ = backend.make_cross_cache({2, batch, config.audio_positions, config.decoder_heads, config.width});
    for (int i = 0; i < batch; ++i) rows_.push_back({100 + i, 64, i, i});
    backend.fill_zero(rows(*state_, width));
    backend.fill_zero(rows(*wide_, 4 * width));
  }

  void print() {
    const auto width = static_cast<size_t>(config_.width),
               vocabulary = static_cast<size_t>(config_.vocabulary);
    const Rows state = rows(*state_, width), wide = rows(*wide_, 4 * width), qkv = wide.columns(0, 3 * width),
               narrow = wide.columns(0, width), logits = rows(*logits_, vocabulary);
    const double n = static_cast<double>(rows_count_), row = n * static_cast<double>(width) * 2;
    stage("layer norm", 2 * row, [&](size_t) { backend_.layer_norm(*norm_, state, narrow); });
    stage("linear d x d", static_cast<double>(square_[0]->bytes()),
          [&](size_t i) { backend_.linear(*square_[i % kCopies], state, narrow); });
    stage("linear d x 4d", static_cast<double>(expand_[0]->bytes()),
          [&](size_t i) { backend_.linear(*expand_[i % kCopies], state, wide, {.gelu = true}); });
    stage("linear 4d x d", static_cast<double>(contract_[0]->bytes()),
          [&](size_t i) { backend_.linear(*contract_[i % kCopies], wide, state, {.residual = &state}); });
    stage("vocabulary", static_cast<double>(table_->bytes()),
          [&](size_t) { backend_.linear(*table_, state, logits); });
    stage("attend self", n * 65 * static_cast<double>(self_->position_bytes()) / 2,
          [&](size_t i) { backend_.attend_self(*self_, static_cast<int>(i % 2), qkv, rows_, state); });
    stage("attend cross", n * static_cast<double>(cross_->window_bytes()) / 2,
          [&](size_t i) { backend_.attend_cross(*cross_, static_cast<int>(i % 2), state, rows_, narrow); });
  }

 private:
  static constexpr size_t kCopies = 12, kTimes = 48;

  Rows rows(Memory& memory, size_t width) const { return {&memory, 0, rows_count_, width, width}; }

  template <class Operation>
  void stage(const char* name, double bytes, Operation operation) {
    const auto all = [&] {
      for (size_t i = 0; i < kTimes; ++i) operation(i);
    };
    all();  // takes what memory it needs
    const auto recording = backend_.record(rows_, all);
    float value = 0;
    const auto wait = [&] { backend_.read({state_.get(), 0, 1, 1, 1}, {&value, 1}); };
    wait();
    std::vector<double> times;
    for (int run = 0; run < 5; ++run) {
      const auto begin = Clock::now();
      if (recording) {
        backend_.replay(*recording, rows_);
      } else {
        all();
      }
      wait();
      times.push_back(seconds_since(begin) / kTimes);
    }
    const double time = median(times);
    fmt::print("  {:14} {:5} rows {:9.2f} us {:6.2f} TB/s {:4.0f}%\n", name, rows_count_, time * 1e6,
               bytes / time / 1e12, 100 * bytes / time / copy_rate_);
    std::fflush(stdout);
  }

  Backend& backend_;
  const ModelConfig& config_;
  size_t rows_count_;
  double copy_rate_;
  std::vector<std::unique_ptr<Matrix>> square_, expand_, contract_;
  std::unique_ptr<Matrix> table_;
  std::unique_ptr<Norm> norm_;
  std::unique_ptr<Memory> state_, wide_, logits_;
  std::unique_ptr<SelfCache> self_;
  std::unique_ptr<CrossCache> cross_;
  std::vector<DecodeRow> rows_;
};

// The same for a layer of the encoder, as many windows together as the backend likes.
void encoder_stages(Backend& backend, const ModelConfig& config, int batch, double matrix_rate,
                    double copy_rate) {
  const Checkpoint checkpoint = random_checkpoint(config);
  const auto width = static_cast<size_t>(config.width),
             positions = static_cast<size_t>(config.audio_positions);
  const int windows = std::min(batch, backend.windows_to_encode_together());
  const size_t count = positions * static_cast<size_t>(windows);
  const auto matrix = [&](const std::string& name, int parts) {
    const Backend::MatrixPart part{&checkpoint.tensors.at(name + ".weight"), nullptr};
    const std::vector<Backend::MatrixPart> all(static_cast<size_t>(parts), part);
    return backend.pack_matrix(all, MatrixUse::many_rows);
  };
  const auto qkv = matrix("encoder.layers.0.self_attn.q_proj", 3),
             out = matrix("encoder.layers.0.self_attn.out_proj", 1),
             expand = matrix("encoder.layers.0.fc1", 1), contract = matrix("encoder.layers.0.fc2", 1),
             conv1 = matrix("encoder.conv1", 1), conv2 = matrix("encoder.conv2", 1);
  const auto norm = backend.pack_norm(checkpoint.tensors.at("encoder.layer_norm.weight"),
                                      checkpoint.tensors.at("encoder.layer_norm.bias"));
  const auto state_memory = backend.allocate(count * width),
             wide_memory = backend.allocate(count * 4 * width),
             mel_memory = backend.allocate((2 * positions + 2) * static_cast<size_t>(config.mel_bins)),
             conv_memory = backend.allocate((2 * positions + 2) * width);
  const auto rows = [&](Memory& memory, size_t n, size_t w) { return Rows{&memory, 0, n, w, w}; };
  const Rows state = rows(*state_memory, count, width), wide = rows(*wide_memory, count, 4 * width),
             triple = rows(*wide_memory, count, 3 * width),
             mel = rows(*mel_memory, 2 * positions + 2, static_cast<size_t>(config.mel_bins)),
             conv = rows(*conv_memory, 2 * positions + 2, width);
  std::vector<float> values(state.count * state.width);
  std::minstd_rand random(3);
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  backend.write(state, values);
  for (size_t part = 0; part < 4; ++part) backend.write(wide.columns(part * width, width), values);
  values.resize(mel.count * mel.width);
  const auto stage = [&](const char* name, double operations, double bytes, const auto& operation) {
    float value = 0;
    const auto wait = [&] { backend.read({state_memory.get(), 0, 1, 1, 1}, {&value, 1}); };
    std::vector<double> times;
    for (int run = 0; run < 6; ++run) {
      wait();
      const auto begin = Clock::now();
      for (int i = 0; i < 8; ++i) operation();
      wait();
      times.push_back(seconds_since(begin) / 8);
    }
    const double time = median(times);
    fmt::print("  {:14} {:3} windows {:9.1f} us {:6.0f} TFLOP/s {:3.0f}% {:6.2f} TB/s {:3.0f}%\n", name,
               windows, time * 1e6, operations / time / 1e12, 100 * operations / time / matrix_rate,
               bytes / time / 1e12, 100 * bytes / time / copy_rate);
    std::fflush(stdout);
  };
  const double n = static_cast<double>(count), d = static_cast<double>(width),
               t = static_cast<double>(positions);
  stage("layer norm", 0, 4 * n * d,
        [&] { backend.layer_norm(*norm, state, rows(*wide_memory, count, width)); });
  stage("linear d x 3d", 6 * n * d * d, 8 * n * d, [&] { backend.linear(*qkv, state, triple); });
  stage("attention", 4 * n * t * d, 8 * n * d,
        [&] { backend.attend_encoder(triple, state, config.encoder_heads, windows); });
  stage("linear d x d", 2 * n * d * d, 6 * n * d,
        [&] { backend.linear(*out, rows(*wide_memory, count, width), state, {.residual = &state}); });
  stage("linear d x 4d", 8 * n * d * d, 10 * n * d,
        [&] { backend.linear(*expand, state, wide, {.gelu = true}); });
  stage("linear 4d x d", 8 * n * d * d, 12 * n * d,
        [&] { backend.linear(*contract, wide, state, {.residual = &state}); });
  stage("conv 1 (one)", 12 * t * d * config.mel_bins, 0,
        [&] { backend.convolve(*conv1, mel, conv.rows(1, 2 * positions), 1, nullptr); });
  stage("conv 2 (one)", 6 * t * d * d, 0,
        [&] { backend.convolve(*conv2, conv, state.rows(0, positions), 2, nullptr); });
  stage("write (one)", 0, 4.0 * static_cast<double>(values.size()), [&] { backend.write(mel, values); });
}

void measure(const std::string& library, const std::string& what, double matrix_rate, double copy_rate) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= what.size();) {
    const size_t end = std::min(what.find(':', at), what.size());
    parts.push_back(what.substr(at, end - at));
    at = end + 1;
  }
  const auto shapes = named_shapes();
  const auto shape =
      std::find_if(shapes.begin(), shapes.end(), [&](const auto& s) { return s.name == parts.at(0); });
  if (shape == shapes.end()) throw Error(ErrorCode::usage, "there is no model shape '{}'", parts[0]);
  const int batch = std::stoi(parts.at(1));
  const auto type = compute_type_from_name(parts.size() > 2 ? parts[2] : "float16").value();
  const auto backend =
      make_gpu_backend({gpu::Vendor::nvidia, library, 0, type, parts.size() > 3 ? parts[3] : std::string()});
  if (parts.size() > 4 && parts[4] == "stages") {
    Stages(*backend, shape->config, batch, copy_rate).print();
    encoder_stages(*backend, shape->config, batch, matrix_rate, copy_rate);
    return;
  }
  const auto begin = Clock::now();
  const Network network(*backend, random_checkpoint(shape->config));
  Run run(*backend, network, batch);
  run.wait();
  const double loading = seconds_since(begin);
  run.encode();
  run.decode();
  std::vector<double> encoding, decoding;
  for (int i = 0; i < 3; ++i) {
    encoding.push_back(run.encode());
    decoding.push_back(run.decode());
  }
  const double encode = median(encoding), decode = median(decoding);
  const double rate = encoder_operations(shape->config) * batch / encode,
               bytes = run.step_bytes() * kTokens / decode;
  fmt::print(
      "{:9} {:5} {:13} {:6} {:8.2f} s {:9.1f} ms {:6.0f} TFLOP/s {:4.0f}% {:8.3f} ms {:6.2f} TB/s {:4.0f}% "
      "{:8.0f}x\n",
      parts[0], batch, compute_type_name(type), parts.size() > 3 ? parts[3] : "best", loading, encode * 1e3,
      rate / 1e12, 100 * rate / matrix_rate, decode / kTokens * 1e3, bytes / 1e12, 100 * bytes / copy_rate,
      batch * kWindowSeconds / (encode + decode));
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::fprintf(stderr, "usage: gpu_bench LIBRARY MATRIX_TFLOPS [SHAPE:BATCH[:TYPE[:PATH[:stages]]] ...]\n");
    return 2;
  }
  try {
    const std::string library = arguments[1];
    const double matrix_rate = std::atof(arguments[2]) * 1e12;
    const auto context = gpu::Context::open(gpu::Vendor::nvidia, library, 0);
    const double copy_rate = copy_bandwidth(context);
    fmt::print("{} ({}): matrix {:.0f} TFLOP/s, copy {:.2f} TB/s (read + written)\n", context->facts().name,
               context->facts().architecture, matrix_rate / 1e12, copy_rate / 1e12);
    fmt::print("{:9} {:>5} {:13} {:6} {:>10} {:>12} {:>14} {:>5} {:>11} {:>11} {:>5} {:>9}\n", "model",
               "batch", "type", "path", "load", "encode", "", "", "token", "", "", "real time");
    for (int i = 3; i < count; ++i) measure(library, arguments[i], matrix_rate, copy_rate);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_bench: %s\n", error.what());
    return 1;
  }
}
