#include "fault/emulated_gpu.h"

#include <cmath>
#include <random>

#include "base/log.h"
#include "device/compute_types.h"
#include "device/detect.h"
#include "device/self_test.h"
#include "model/convert.h"
#include "model/store.h"
#include "support/checkpoint_tools.h"
#include "support/hugging_face_folder.h"
#include "whisper/tokenizer.h"

namespace sotto::test {
namespace {

std::filesystem::path emulated_folder() {
  return fake_library("emulated_cuda").parent_path() / "emulated";
}

ModelConfig tiny_config() {
  ModelConfig config = small_config();
  config.audio_positions = 12;
  config.vocabulary -=
      1501 - (config.audio_positions + 1);  // fewer timestamps: each is a row of the output matrix
  config.text_positions = 32;
  config.width = 16;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_ffn = 24;
  config.decoder_ffn = 20;
  return config;
}

std::string value_of(const Placement& placement, std::string_view name) {
  for (const auto& [key, value] : placement.record)
    if (key == name) return value;
  return {};
}

}  // namespace

EmulatedMachine::EmulatedMachine()
    : library_(DynamicLibrary::open(emulated_folder() / "libcuda.so.1")),
      set_plan_(library_.symbol<SetEmulatedPlan>(kSetEmulatedPlan)),
      read_counts_(library_.symbol<ReadEmulatedCounts>(kReadEmulatedCounts)),
      model_((folder_ / "model").string()) {
  system_.set("SOTTO_DRIVER_PATH", emulated_folder().string());
  Checkpoint made = make_random_checkpoint(tiny_config(), 3);
  made.generation.max_initial_timestamp_index = 5;
  write_hugging_face_folder(made, model_);
  checkpoint_ = open_checkpoint(model_);
  hash_ = checkpoint_hash(checkpoint_);
  const SelfTestCache cache(default_self_test_cache());
  for (const Device& device : find_devices().devices)
    for (const ComputeType type : device.compute_types)
      if (device.kind != DeviceKind::cpu) cache.store(device, type, {true, 0, 1, "", ""});
  set_log_sink([this](LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (level == LogLevel::warning) warnings_.emplace_back(text);
  });
  Options on_cpu = options();
  on_cpu.device = "cpu";
  expected_ = transcribe(on_cpu);
}

EmulatedMachine::~EmulatedMachine() {
  plan({});
  set_log_sink({});
}

EmulatedCounts EmulatedMachine::counts() const {
  EmulatedCounts counts;
  read_counts_(counts);
  return counts;
}

Options EmulatedMachine::options() const {
  Options options;
  options.model = model_;
  options.device = "cuda";
  options.compute_type = "float32";
  options.batch_size = 2;
  options.threads = 1;
  return options;
}

std::vector<WindowRequest> EmulatedMachine::windows() const {
  const Tokenizer tokenizer(checkpoint_.vocabulary);
  std::mt19937 random(5);
  std::vector<WindowRequest> windows(2);
  for (WindowRequest& window : windows) {
    window.mel.resize(
        static_cast<size_t>(2 * checkpoint_.config.audio_positions * checkpoint_.config.mel_bins));
    for (float& value : window.mel) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
    window.task = tokenizer.special().transcribe;
    window.language = tokenizer.languages().front().token;
    window.search.max_new_tokens = 4;  // enough for a step that is recorded and one that is replayed
    window.log_prob_threshold = -1000;
    window.compression_ratio_threshold = 1000;
  }
  windows[0].detect_language = true;
  windows[0].align = true;
  windows[0].alignment_heads = {{0, 1}};
  windows[1].search.beams = 2;
  windows[1].search.timestamps = false;
  return windows;
}

std::vector<WindowResult> EmulatedMachine::transcribe(const Options& options) {
  PlacedModel model(options, "the test", model_, checkpoint_, hash_);
  const Tokenizer tokenizer(checkpoint_.vocabulary);
  std::vector<WindowResult> results;
  {
    Scheduler scheduler(model, checkpoint_.config, tokenizer, {options.batch_size, options.keep_alive});
    std::vector<std::future<WindowResult>> futures;
    for (WindowRequest& window : windows())
      futures.push_back(scheduler.submit(std::move(window), 0, nullptr));
    for (auto& future : futures) results.push_back(future.get());
  }
  where_ = model.placement().device.id();
  why_ = value_of(model.placement(), "why");
  return results;
}

std::vector<std::string> EmulatedMachine::warnings() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warnings_, {});
}

bool same_result(const WindowResult& a, const WindowResult& b) {
  constexpr double kRounding = 1e-3;
  return a.search.tokens == b.search.tokens && a.languages.size() == b.languages.size() &&
         std::abs(a.search.sum_log_probability - b.search.sum_log_probability) < kRounding &&
         a.alignment.has_value() == b.alignment.has_value();
}

}  // namespace sotto::test
