#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/audio_source.h"
#include "unit/audio/vad_mixtures.h"

namespace sotto::test {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

double seconds_at(size_t sample) {
  return static_cast<double>(sample) / kSampleRate;
}

std::vector<float> white(size_t count, Random& random) {
  std::vector<float> out(count);
  for (float& value : out) value = static_cast<float>(random.normal());
  return out;
}

// Low-pass noises an octave apart, each of the same power, add up to a spectrum that falls with 1/f.
std::vector<float> pink(size_t count, Random& random) {
  constexpr int kOctaves = 9;
  std::array<double, kOctaves> state{};
  std::vector<float> out(count);
  for (float& value : out) {
    double sum = 0;
    for (int octave = 0; octave < kOctaves; ++octave) {
      const double pole = std::exp(-kTurn * 20 * std::exp2(octave) / kSampleRate);
      state[static_cast<size_t>(octave)] =
          pole * state[static_cast<size_t>(octave)] + std::sqrt(1 - pole * pole) * random.normal();
      sum += state[static_cast<size_t>(octave)];
    }
    value = static_cast<float>(sum);
  }
  return out;
}

std::vector<float> brown(size_t count, Random& random) {
  std::vector<float> out(count);
  double state = 0;
  for (float& value : out) value = static_cast<float>(state = 0.995 * state + random.normal());
  return out;
}

std::vector<float> babble(size_t count, Random& random, std::span<const LabelledAudio> voices) {
  constexpr int kTalkers = 6;
  std::vector<float> out(count);
  for (int talker = 0; talker < kTalkers; ++talker) {
    size_t at = 0;
    while (at < count) {
      const std::vector<float>& voice = voices[random.below(voices.size())].samples;
      double power = 0;
      for (const float value : voice) power += value * value;
      const double gain = 1 / std::sqrt(power / static_cast<double>(voice.size()) + 1e-9);
      // The first talk begins somewhere in the middle, so that the talkers do not start together.
      const size_t skip = at == 0 ? random.below(voice.size()) : 0;
      for (size_t i = skip; i < voice.size() && at < count; ++i) {
        out[at++] += static_cast<float>(gain * voice[voice.size() - 1 - i]);
      }
    }
  }
  return out;
}

std::vector<float> hum(size_t count, Random& random) {
  std::vector<float> out = white(count, random);
  std::array<double, 12> phases{};
  for (double& phase : phases) phase = random.uniform(0, kTurn);
  for (size_t i = 0; i < count; ++i) {
    double sum = 0.02 * out[i];
    for (size_t k = 0; k < phases.size(); ++k) {
      const double harmonic = static_cast<double>(k + 1);
      sum += std::sin(kTurn * 50 * harmonic * seconds_at(i) + phases[k]) / harmonic;
    }
    out[i] = static_cast<float>(sum);
  }
  return out;
}

std::vector<float> clicks(size_t count, Random& random) {
  std::vector<float> out = white(count, random);
  for (float& value : out) value *= 0.003F;
  size_t at = 0;
  while ((at += static_cast<size_t>(random.uniform(0.02, 0.5) * kSampleRate)) < count) {
    const double decay = random.uniform(0.001, 0.01) * kSampleRate;
    const double level = random.uniform(0.3, 1);
    const auto length = std::min(count - at, static_cast<size_t>(6 * decay));
    for (size_t i = 0; i < length; ++i) {
      out[at + i] += static_cast<float>(level * random.normal() * std::exp(-static_cast<double>(i) / decay));
    }
  }
  return out;
}

// Resonances of a housing, driven by an even stream of air that the blades chop a little.
std::vector<float> fan(size_t count, Random& random) {
  std::vector<float> out = white(count, random);
  const double blades = random.uniform(15, 40);
  constexpr std::array kResonances = {190.0, 420.0, 1100.0, 2300.0};
  std::array<std::array<double, 2>, kResonances.size()> memory{};
  for (size_t i = 0; i < count; ++i) {
    const double air = out[i] * (1 + 0.3 * std::sin(kTurn * blades * seconds_at(i)));
    double sum = 0.3 * air;
    for (size_t r = 0; r < kResonances.size(); ++r) {
      const double radius = 0.97;
      const double next = 0.06 * air +
                          2 * radius * std::cos(kTurn * kResonances[r] / kSampleRate) * memory[r][0] -
                          radius * radius * memory[r][1];
      memory[r] = {next, memory[r][0]};
      sum += next;
    }
    out[i] = static_cast<float>(sum);
  }
  return out;
}

// Waves, trains, breathing machines: pink noise that swells and fades with a period of 0.3 to 2 s.
std::vector<float> modulated(size_t count, Random& random) {
  std::vector<float> out = pink(count, random);
  const double rate = random.uniform(0.5, 3);
  for (size_t i = 0; i < count; ++i) {
    out[i] *= static_cast<float>(0.55 + 0.45 * std::sin(kTurn * rate * seconds_at(i)));
  }
  return out;
}

void add_note(std::span<float> out, double frequency, double level, double decay) {
  constexpr int kHarmonics = 6;
  for (size_t i = 0; i < out.size(); ++i) {
    const double t = seconds_at(i);
    double sum = 0;
    for (int k = 1; k <= kHarmonics; ++k) sum += std::sin(kTurn * frequency * k * t) / (k * k);
    const double fade = std::min({1.0, t * 100, seconds_at(out.size() - i) * 100});
    out[i] += static_cast<float>(level * fade * std::exp(-decay * t) * sum);
  }
}

// A melody over chords and a drum.
std::vector<float> music(size_t count, Random& random) {
  constexpr std::array kScale = {0, 2, 4, 5, 7, 9, 11, 12};
  std::vector<float> out(count);
  const double beat_seconds = random.uniform(0.25, 0.6);
  const auto beat = static_cast<size_t>(beat_seconds * kSampleRate);
  const double root = random.uniform(180, 300);
  const auto pitch = [&](size_t degree) { return root * std::exp2(kScale[degree % kScale.size()] / 12.0); };
  size_t number = 0;
  for (size_t at = 0; at < count; at += beat, ++number) {
    const std::span<float> note = std::span(out).subspan(at, std::min(beat, count - at));
    add_note(note, pitch(random.below(kScale.size())), 1, 2);
    if (number % 4 == 0) {
      const std::span<float> bar = std::span(out).subspan(at, std::min(4 * beat, count - at));
      const size_t degree = random.below(kScale.size());
      for (const size_t third : {0, 2, 4}) add_note(bar, pitch(degree + third) / 2, 0.5, 0.7);
    }
    for (size_t i = 0; i < std::min<size_t>(note.size(), 2000); ++i) {
      note[i] += static_cast<float>(0.5 * random.normal() * std::exp(-static_cast<double>(i) / 300));
    }
  }
  return out;
}

// Beeps of one or two frequencies, and sirens.
std::vector<float> tones(size_t count, Random& random) {
  std::vector<float> out = white(count, random);
  for (float& value : out) value *= 0.003F;
  size_t at = 0;
  while (at < count) {
    const auto length = std::min(count - at, static_cast<size_t>(random.uniform(0.1, 1.2) * kSampleRate));
    const double first = random.uniform(300, 2500);
    const double second = random.uniform(300, 2500);
    const double sweep = random.below(3) == 0 ? random.uniform(-800, 800) : 0;
    for (size_t i = 0; i < length; ++i) {
      const double t = seconds_at(i);
      const double fade = std::min({1.0, t * 200, seconds_at(length - i) * 200});
      const double wave = std::sin(kTurn * (first + sweep * t / 2) * t) + 0.7 * std::sin(kTurn * second * t);
      out[at + i] += static_cast<float>(fade * wave);
    }
    at += length + static_cast<size_t>(random.uniform(0.05, 0.8) * kSampleRate);
  }
  return out;
}

std::vector<float> of_kind(Noise noise, size_t count, Random& random, std::span<const LabelledAudio> voices) {
  switch (noise) {
    case Noise::white:
      return white(count, random);
    case Noise::pink:
      return pink(count, random);
    case Noise::brown:
      return brown(count, random);
    case Noise::babble:
      return babble(count, random, voices);
    case Noise::hum:
      return hum(count, random);
    case Noise::clicks:
      return clicks(count, random);
    case Noise::fan:
      return fan(count, random);
    case Noise::modulated:
      return modulated(count, random);
    case Noise::music:
      return music(count, random);
    case Noise::tones:
      return tones(count, random);
  }
  return {};
}

}  // namespace

double Random::normal() {
  const double radius = std::sqrt(-2 * std::log(uniform(1e-12, 1)));
  return radius * std::cos(uniform(0, kTurn));
}

const char* name_of(Noise noise) {
  switch (noise) {
    case Noise::white:
      return "white";
    case Noise::pink:
      return "pink";
    case Noise::brown:
      return "brown";
    case Noise::babble:
      return "babble";
    case Noise::hum:
      return "hum";
    case Noise::clicks:
      return "clicks";
    case Noise::fan:
      return "fan";
    case Noise::modulated:
      return "modulated";
    case Noise::music:
      return "music";
    case Noise::tones:
      return "tones";
  }
  return "";
}

std::vector<float> make_noise(Noise noise, size_t count, Random& random,
                              std::span<const LabelledAudio> voices) {
  std::vector<float> out = of_kind(noise, count, random, voices);
  double power = 0;
  for (const float value : out) power += static_cast<double>(value) * value;
  const double gain = 1 / std::sqrt(power / static_cast<double>(count) + 1e-12);
  for (float& value : out) value = static_cast<float>(value * gain);
  return out;
}

}  // namespace sotto::test
