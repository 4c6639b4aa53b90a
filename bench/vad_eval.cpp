// Measures the speech detector on generated mixtures: frame-level F1 by kind of noise and signal-to-noise
// ratio, beside a statistical detector for comparison, and its speed. docs/vad.md holds the figures.

#include <algorithm>
#include <cmath>
#include <ctime>
#include <deque>

#include <fmt/format.h>

#include "audio/vad.h"
#include "unit/audio/vad_mixtures.h"

namespace {

using namespace sotto::test;
using sotto::kVadFrame;

constexpr std::array kRatios = {20, 15, 10, 5, 0};
constexpr double kSeconds = 120;

// The comparison: a frame is speech when it is clearly louder than the quietest moment of the last 3 s, with
// a hangover that bridges short pauses. kMargin is the one of 3, 4, ... 12 dB that serves the mixtures at 10
// dB best.
std::vector<bool> louder_frames(std::span<const float> samples) {
  constexpr size_t kMemory = 300;
  constexpr size_t kHangover = 15;
  constexpr double kMargin = 8;
  std::vector<bool> found;
  std::deque<double> recent;
  double smooth = 0;
  size_t hold = 0;
  for (size_t at = 0; at + kVadFrame <= samples.size(); at += kVadFrame) {
    double power = 1e-10;
    for (size_t i = at; i < at + kVadFrame; ++i) power += samples[i] * samples[i] / kVadFrame;
    smooth = at == 0 ? power : 0.6 * smooth + 0.4 * power;
    recent.push_back(smooth);
    if (recent.size() > kMemory) recent.pop_front();
    const double floor = *std::min_element(recent.begin(), recent.end());
    if (10 * std::log10(smooth / floor) > kMargin) hold = kHangover;
    found.push_back(hold > 0);
    if (hold > 0) --hold;
  }
  return found;
}

using Detector = std::vector<bool> (*)(std::span<const float>);

void print_table(const char* title, std::span<const LabelledAudio> clips, Detector detector) {
  fmt::print("\n{}\n{:<10}", title, "noise");
  for (const int ratio : kRatios) fmt::print("{:>8} dB", ratio);
  fmt::print("\n");
  std::array<FrameScore, kRatios.size()> totals;
  uint32_t seed = 1000;
  for (const Noise noise : kNoises) {
    fmt::print("{:<10}", name_of(noise));
    for (size_t i = 0; i < kRatios.size(); ++i) {
      const LabelledAudio mixture = mix(clips, noise, kRatios[i], kSeconds, seed++);
      FrameScore score;
      score.add(mixture.speech, detector(mixture.samples));
      totals[i] += score;
      fmt::print("{:>11.3f}", score.f1());
    }
    fmt::print("\n");
  }
  fmt::print("{:<10}", "all");
  for (const FrameScore& total : totals) fmt::print("{:>11.3f}", total.f1());
  fmt::print("\n");
}

void print_noise_alone(std::span<const LabelledAudio> voices) {
  fmt::print("\nshare of frames taken for speech in noise alone\n");
  for (const Noise noise : kNoises) {
    Random random(7);
    std::vector<float> samples =
        make_noise(noise, static_cast<size_t>(kSeconds) * sotto::kSampleRate, random, voices);
    for (float& value : samples) value *= 0.03F;
    const std::vector<bool> found = speech_frames(samples);
    const auto count = static_cast<double>(std::count(found.begin(), found.end(), true));
    fmt::print("{:<10}{:>8.4f}\n", name_of(noise), count / static_cast<double>(found.size()));
  }
}

void print_speed(std::span<const LabelledAudio> clips) {
  const LabelledAudio mixture = mix(clips, Noise::pink, 10, 600, 1);
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t start = std::clock();
    speech_frames(mixture.samples);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  const double seconds = static_cast<double>(mixture.samples.size()) / sotto::kSampleRate;
  fmt::print("\nspeed: {:.0f} s of audio in {:.3f} s of processor time, {:.0f} times real time\n", seconds,
             best, seconds / best);
}

}  // namespace

int main() {
  const std::vector<LabelledAudio> samples = sample_clips();
  const std::vector<LabelledAudio> human = human_clips();
  print_table("F1 on samples/ (synthetic voices)", samples, speech_frames);
  print_table("F1 on samples/, comparison: energy over its minimum", samples, louder_frames);
  if (human.empty()) {
    fmt::print("\n../shared/speech is not there: no figures for human speech\n");
  } else {
    print_table("F1 on ../shared/speech (human voices)", human, speech_frames);
    print_table("F1 on ../shared/speech, comparison: energy over its minimum", human, louder_frames);
  }
  print_noise_alone(samples);
  print_speed(samples);
}
