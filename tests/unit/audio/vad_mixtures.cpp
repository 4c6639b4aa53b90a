#include "unit/audio/vad_mixtures.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "audio/vad.h"

namespace sotto::test {
namespace {

constexpr size_t kHop = kVadFrame;

double power_of(std::span<const float> samples) {
  double sum = 0;
  for (const float value : samples) sum += static_cast<double>(value) * value;
  return sum / static_cast<double>(std::max<size_t>(1, samples.size()));
}

// Inverts the runs of `value` that are at most `longest` frames; pauses at the start and the end stay.
void drop_runs(std::vector<bool>& frames, bool value, size_t longest) {
  for (size_t start = 0; start < frames.size();) {
    size_t end = start;
    while (end < frames.size() && frames[end] == frames[start]) ++end;
    const bool outer = !value && (start == 0 || end == frames.size());
    if (frames[start] == value && end - start <= longest && !outer)
      std::fill_n(frames.begin() + start, end - start, !value);
    start = end;
  }
}

std::vector<bool> energy_labels(std::span<const float> clean) {
  const size_t frames = clean.size() / kHop;
  std::vector<double> power(frames);
  for (size_t i = 0; i < frames; ++i) {
    const size_t first = i == 0 ? 0 : (i - 1) * kHop;
    power[i] = power_of(clean.subspan(first, std::min((i + 2) * kHop, clean.size()) - first));
  }
  std::vector<double> sorted = power;
  std::sort(sorted.begin(), sorted.end());
  const double threshold = sorted.empty() ? 0 : sorted[sorted.size() * 95 / 100] * std::pow(10, -3.2);
  std::vector<bool> labels(frames);
  for (size_t i = 0; i < frames; ++i) labels[i] = power[i] > threshold;
  drop_runs(labels, true, 5);
  drop_runs(labels, false, 30);
  return labels;
}

std::filesystem::path human_folder() {
  if (const char* folder = std::getenv("SOTTO_SPEECH_DIR")) return folder;
  return std::filesystem::path(SOTTO_SOURCE_DIR) / ".." / "shared" / "speech";
}

// The clips one after the other in random order, with pauses.
LabelledAudio place(std::span<const LabelledAudio> clips, double seconds, Random& random) {
  LabelledAudio out;
  const auto count = static_cast<size_t>(seconds * kSampleRate);
  while (out.samples.size() < count) {
    const auto pause = static_cast<size_t>(random.uniform(0.5, 3) / kVadFrameSeconds);
    out.samples.resize(out.samples.size() + pause * kHop);
    out.speech.resize(out.speech.size() + pause);
    const LabelledAudio& clip = clips[random.below(clips.size())];
    const double gain =
        0.05 / std::sqrt(power_of(clip.samples) + 1e-12) * std::pow(10, random.uniform(-3, 3) / 20);
    for (size_t i = 0; i < clip.speech.size() * kHop; ++i) {
      out.samples.push_back(static_cast<float>(gain * clip.samples[i]));
    }
    out.speech.insert(out.speech.end(), clip.speech.begin(), clip.speech.end());
  }
  out.samples.resize(out.samples.size() + 100 * kHop);
  out.speech.resize(out.speech.size() + 100);
  return out;
}

double speech_power(const LabelledAudio& audio) {
  double sum = 0;
  size_t frames = 0;
  for (size_t i = 0; i < audio.speech.size(); ++i) {
    if (!audio.speech[i]) continue;
    sum += power_of(std::span(audio.samples).subspan(i * kHop, kHop));
    ++frames;
  }
  return sum / static_cast<double>(std::max<size_t>(1, frames));
}

}  // namespace

std::filesystem::path samples_folder() {
  return std::filesystem::path(SOTTO_SOURCE_DIR) / "samples";
}

std::vector<float> read_audio(const std::filesystem::path& path) {
  const auto source = open_audio(path.string());
  std::vector<float> samples;
  std::vector<float> piece(kSampleRate);
  while (const size_t count = source->read(piece))
    samples.insert(samples.end(), piece.begin(), piece.begin() + count);
  return samples;
}

std::vector<Reference> sample_references() {
  std::ifstream file(samples_folder() / "refs.tsv");
  std::vector<Reference> references;
  std::string line;
  std::getline(file, line);  // the names of the columns
  while (std::getline(file, line)) {
    std::istringstream columns(line);
    Reference reference;
    std::string language, text, segment;
    std::getline(columns, reference.file, '\t');
    std::getline(columns, language, '\t');
    std::getline(columns, text, '\t');
    while (std::getline(columns, segment, ';')) {
      const size_t dash = segment.find('-');
      if (dash == std::string::npos) continue;
      reference.segments.emplace_back(std::stod(segment), std::stod(segment.substr(dash + 1)));
    }
    references.push_back(reference);
  }
  return references;
}

std::vector<LabelledAudio> sample_clips() {
  std::vector<LabelledAudio> clips;
  for (const Reference& reference : sample_references()) {
    if (reference.file.starts_with("noisy")) continue;
    const std::vector<float> audio = read_audio(samples_folder() / reference.file);
    for (const auto& [start, end] : reference.segments) {
      const auto first = static_cast<size_t>(std::lround(start * kSampleRate));
      const auto frames = static_cast<size_t>(std::lround((end - start) / kVadFrameSeconds));
      const auto samples = std::span(audio).subspan(first, frames * kHop);
      clips.push_back({{samples.begin(), samples.end()}, std::vector<bool>(frames, true)});
    }
  }
  return clips;
}

std::vector<LabelledAudio> human_clips() {
  std::vector<std::filesystem::path> files;
  for (const char* part : {"human", "librispeech"}) {
    std::error_code absent;
    for (const auto& entry : std::filesystem::directory_iterator(human_folder() / part, absent)) {
      const auto kind = entry.path().extension();
      if (kind == ".flac" || kind == ".opus") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<LabelledAudio> clips;
  for (const auto& file : files) {
    LabelledAudio clip{read_audio(file), {}};
    clip.speech = energy_labels(clip.samples);
    clips.push_back(std::move(clip));
  }
  return clips;
}

LabelledAudio mix(std::span<const LabelledAudio> clips, Noise noise, double snr_db, double seconds,
                  uint32_t seed) {
  Random random(seed);
  LabelledAudio out = place(clips, seconds, random);
  const std::vector<float> added = make_noise(noise, out.samples.size(), random, clips);
  const double noise_gain = std::sqrt(speech_power(out)) * std::pow(10, -snr_db / 20);
  for (size_t i = 0; i < added.size(); ++i) out.samples[i] += static_cast<float>(noise_gain * added[i]);
  const double level = std::pow(10, random.uniform(-40, -15) / 20) / std::sqrt(power_of(out.samples));
  for (float& value : out.samples) value = static_cast<float>(value * level);
  return out;
}

void FrameScore::add(const std::vector<bool>& truth, const std::vector<bool>& found) {
  for (size_t i = 0; i < std::min(truth.size(), found.size()); ++i) {
    hits += truth[i] && found[i];
    false_alarms += !truth[i] && found[i];
    misses += truth[i] && !found[i];
  }
}

FrameScore& FrameScore::operator+=(const FrameScore& other) {
  hits += other.hits;
  false_alarms += other.false_alarms;
  misses += other.misses;
  return *this;
}

std::vector<bool> speech_frames(std::span<const float> samples) {
  VoiceDetector detector;
  std::vector<float> probabilities;
  detector.push(samples, probabilities);
  detector.finish(probabilities);
  std::vector<bool> frames(probabilities.size());
  for (size_t i = 0; i < frames.size(); ++i) frames[i] = probabilities[i] >= VadOptions{}.threshold;
  return frames;
}

}  // namespace sotto::test
