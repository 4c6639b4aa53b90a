// The parts around the network, each on its own: how long one call takes. `sotto bench` measures the network.
#include <fstream>
#include <random>
#include <sstream>

#include <benchmark/benchmark.h>

#include "audio/mel.h"
#include "audio/vad.h"
#include "whisper/time_warping.h"
#include "whisper/tokenizer.h"
#include "whisper/window_segments.h"

namespace sotto {
namespace {

std::vector<float> noise(size_t samples) {
  std::minstd_rand random(1);
  std::vector<float> values(samples);
  for (float& value : values) value = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  return values;
}

void mel_window(benchmark::State& state) {
  const std::vector<float> samples = noise(30 * kSampleRate);
  std::vector<float> window(static_cast<size_t>(kWindowFrames * state.range(0)));
  for (auto _ : state) {
    const auto source = audio_from_samples(samples);
    MelStream mel(*source, static_cast<int>(state.range(0)));
    mel.window(0, window);
    benchmark::DoNotOptimize(window.data());
  }
}
BENCHMARK(mel_window)->Arg(80)->Arg(128)->Unit(benchmark::kMillisecond);

void speech_detection_of_a_minute(benchmark::State& state) {
  const std::vector<float> samples = noise(60 * kSampleRate);
  for (auto _ : state) benchmark::DoNotOptimize(find_speech(samples, {}));
}
BENCHMARK(speech_detection_of_a_minute)->Unit(benchmark::kMillisecond);

void encode_text(benchmark::State& state) {
  const Tokenizer tokenizer(embedded_checkpoint().vocabulary);
  const std::string text = " It was the best of times, it was the worst of times, it was the age of wisdom.";
  for (auto _ : state) benchmark::DoNotOptimize(tokenizer.encode(text));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(encode_text);

void warp_a_window_of_words(benchmark::State& state) {
  const std::vector<float> costs = noise(200 * 1500);
  for (auto _ : state) benchmark::DoNotOptimize(warp_rows(costs, 200, 1500));
}
BENCHMARK(warp_a_window_of_words)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sotto

BENCHMARK_MAIN();
