#pragma once

// Speech at known times in generated noise: the material on which the speech detector is measured.

#include <array>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace sotto::test {

// A stretch of clean audio and, for each of its 10 ms frames, whether it is speech.
struct LabelledAudio {
  std::vector<float> samples;
  std::vector<bool> speech;
};

// The reference segments of samples/refs.tsv, each cut out at its borders, so that all of it counts as
// speech. The noisy clip is left out.
std::vector<LabelledAudio> sample_clips();

// Human recordings from outside the repository; empty where they are not there. Their truth is the energy of
// the clean signal: louder than 32 dB below its loud parts, with pauses up to 0.3 s counted as speech.
std::vector<LabelledAudio> human_clips();

// Repeatable random numbers: the standard's engine with arithmetic that is the same everywhere.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  double uniform(double low, double high) { return low + (high - low) * (engine_() / 4294967296.0); }
  size_t below(size_t count) { return static_cast<size_t>(uniform(0, static_cast<double>(count))); }
  double normal();

 private:
  std::mt19937 engine_;
};

enum class Noise { white, pink, brown, babble, hum, clicks, fan, modulated, music, tones };
inline constexpr std::array kNoises = {Noise::white, Noise::pink,   Noise::brown, Noise::babble,
                                       Noise::hum,   Noise::clicks, Noise::fan,   Noise::modulated,
                                       Noise::music, Noise::tones};
const char* name_of(Noise noise);

// Noise of unit power. Babble is six of the voices at once, backwards.
std::vector<float> make_noise(Noise noise, size_t count, Random& random,
                              std::span<const LabelledAudio> voices);

// About `seconds` of clips in random order and at random levels (+-3 dB), with pauses of 0.5 to 3 s between
// them, in noise at a signal-to-noise ratio that is measured over the speech; the whole at a random level
// from -40 to -15 dBFS.
LabelledAudio mix(std::span<const LabelledAudio> clips, Noise noise, double snr_db, double seconds,
                  uint32_t seed);

// Counts of frames, and the F1 score that follows from them.
struct FrameScore {
  int64_t hits = 0;
  int64_t false_alarms = 0;
  int64_t misses = 0;

  void add(const std::vector<bool>& truth, const std::vector<bool>& found);
  double f1() const {
    return 2.0 * static_cast<double>(hits) / static_cast<double>(2 * hits + false_alarms + misses);
  }
  FrameScore& operator+=(const FrameScore& other);
};

// Which frames the detector takes for speech at a threshold of 0.5, without any region logic.
std::vector<bool> speech_frames(std::span<const float> samples);

std::vector<float> read_audio(const std::filesystem::path& path);

// The lines of refs.tsv: file and segments.
struct Reference {
  std::string file;
  std::vector<std::pair<double, double>> segments;  // seconds
};
std::vector<Reference> sample_references();
std::filesystem::path samples_folder();

}  // namespace sotto::test
