#include "audio/mel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <kiss_fftr.h>

#include "audio/mel_filters.h"
#include "base/error.h"

namespace sotto {
namespace {

constexpr size_t kFft = 400;
constexpr size_t kHalf =
    kFft / 2;  // frames are centred: frame k looks this far to both sides of sample k * kMelHop
constexpr size_t kBins = kHalf + 1;
constexpr size_t kHop = kMelHop;
constexpr size_t kReadSamples = 16000;
constexpr float kFloor = 1e-10F;
constexpr float kSilence = -10;  // log10(kFloor)

struct FreeFft {
  void operator()(kiss_fftr_state* state) const noexcept { kiss_fftr_free(state); }
};

std::array<float, kFft> periodic_hann() {
  std::array<float, kFft> window{};
  for (size_t i = 0; i < kFft; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / kFft;
    window[i] = static_cast<float>(0.5 - 0.5 * std::cos(angle));
  }
  return window;
}

// Clamped to 8 below the window's maximum, then (x + 4) / 4.
void scale(std::span<float> window) {
  const float lowest = *std::max_element(window.begin(), window.end()) - 8;
  for (float& value : window) value = (std::max(value, lowest) + 4) / 4;
}

// One column of the spectrogram: 400 samples in, log10 mel energies out.
class FrameTransform {
 public:
  explicit FrameTransform(int mel_bins)
      : filters_(mel_bins, kBins, kSampleRate / 2.0), fft_(kiss_fftr_alloc(kFft, 0, nullptr, nullptr)) {
    if (!fft_) throw Error(ErrorCode::out_of_memory, "There is no memory for the mel spectrogram.");
  }

  void operator()(std::span<const float, kFft> samples, std::span<float> out) {
    for (size_t i = 0; i < kFft; ++i) windowed_[i] = samples[i] * hann_[i];
    kiss_fftr(fft_.get(), windowed_.data(), spectrum_.data());
    for (size_t i = 0; i < kBins; ++i) {
      power_[i] = spectrum_[i].r * spectrum_[i].r + spectrum_[i].i * spectrum_[i].i;
    }
    filters_.apply(power_, out);
    for (float& value : out) value = std::log10(std::max(value, kFloor));
  }

 private:
  MelFilters filters_;
  std::unique_ptr<kiss_fftr_state, FreeFft> fft_;
  std::array<float, kFft> hann_ = periodic_hann();
  std::array<float, kFft> windowed_{};
  std::array<kiss_fft_cpx, kBins> spectrum_{};
  std::array<float, kBins> power_{};
};

}  // namespace

struct MelStream::State {
  State(AudioSource& audio, int bins) : source(audio), mel_bins(static_cast<size_t>(bins)), transform(bins) {}

  AudioSource& source;
  size_t mel_bins;
  FrameTransform transform;

  std::vector<float> samples;  // the audio from first_sample on, as far as it was read
  size_t first_sample = 0;
  bool ended = false;

  std::deque<std::vector<float>> frames;  // log10 mel energies from first_frame on, not yet scaled
  size_t first_frame = 0;

  size_t samples_read() const { return first_sample + samples.size(); }
  size_t next_frame() const { return first_frame + frames.size(); }

  void forget_before(size_t frame);
  void read_until(size_t sample);
  void compute_until(size_t frame);
  float sample_at(std::ptrdiff_t index) const;
  void compute_frame(size_t frame);
};

void MelStream::State::forget_before(size_t frame) {
  const size_t count = std::min(frame - first_frame, frames.size());
  frames.erase(frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count));
  first_frame = frame;
}

void MelStream::State::read_until(size_t sample) {
  while (!ended && samples_read() < sample) {
    // The next frame's left half is the earliest audio still needed; a jump far ahead thus needs no memory.
    const size_t centre = next_frame() * kHop;
    const size_t keep_from = centre > kHalf ? centre - kHalf : 0;
    const size_t drop = std::min(keep_from > first_sample ? keep_from - first_sample : 0, samples.size());
    samples.erase(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(drop));
    first_sample += drop;

    const size_t before = samples.size();
    samples.resize(before + kReadSamples);
    const size_t count = source.read(std::span(samples).subspan(before));
    samples.resize(before + count);
    ended = count == 0;
  }
}

void MelStream::State::compute_until(size_t frame) {
  while (next_frame() < frame) {
    const size_t next = next_frame();
    read_until(next * kHop + kHalf);
    if (next * kHop >= samples_read() + kHalf) return;  // no audio reaches into this frame
    compute_frame(next);
  }
}

// Before its start the audio is mirrored, after its end there are zeros (which the mirror may show, in a
// short clip).
float MelStream::State::sample_at(std::ptrdiff_t index) const {
  const auto position = static_cast<size_t>(index < 0 ? -index : index);
  return position < samples_read() ? samples[position - first_sample] : 0.0F;
}

void MelStream::State::compute_frame(size_t frame) {
  const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(frame * kHop) - static_cast<std::ptrdiff_t>(kHalf);
  std::vector<float>& out = frames.emplace_back(mel_bins);
  if (begin >= 0 && static_cast<size_t>(begin) + kFft <= samples_read()) {
    transform(
        std::span<const float, kFft>(samples.data() + (static_cast<size_t>(begin) - first_sample), kFft),
        out);
    return;
  }
  std::array<float, kFft> edge;
  for (size_t i = 0; i < kFft; ++i) edge[i] = sample_at(begin + static_cast<std::ptrdiff_t>(i));
  transform(edge, out);
}

MelStream::MelStream(AudioSource& source, int mel_bins) : state_(std::make_unique<State>(source, mel_bins)) {}
MelStream::~MelStream() = default;

void MelStream::window(size_t first_frame, std::span<float> out) {
  State& state = *state_;
  if (out.size() != kWindowFrames * state.mel_bins || first_frame < state.first_frame) {
    throw Error(
        ErrorCode::internal,
        "A mel window was asked for at frame {} of a stream that is at frame {}, with room for {} values.",
        first_frame, state.first_frame, out.size());
  }
  state.forget_before(first_frame);
  state.compute_until(first_frame + kWindowFrames);

  auto end = out.begin();
  for (const std::vector<float>& frame : state.frames) {
    if (end == out.end()) break;
    end = std::copy(frame.begin(), frame.end(), end);
  }
  std::fill(end, out.end(), kSilence);
  scale(out);
}

WindowSamples MelStream::samples(size_t first_frame) {
  State& state = *state_;
  if (first_frame < state.first_frame || !state.frames.empty())
    throw Error(ErrorCode::internal, "Samples were asked for at frame {} of a stream that is at frame {}.",
                first_frame, state.next_frame());
  state.forget_before(first_frame);
  const size_t centre = first_frame * kHop, end = centre + kWindowFrames * kHop;
  state.read_until(end + kHalf);
  const size_t reach = state.samples_read() + kHalf;  // frames whose centre lies before it hear something
  WindowSamples window;
  window.audible_frames =
      std::min<size_t>(reach > centre ? (reach - centre + kHop - 1) / kHop : 0, kWindowFrames);
  window.samples.resize(kWindowFrames * kHop + kFft - kHop);
  const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(centre) - static_cast<std::ptrdiff_t>(kHalf);
  for (size_t i = 0; i < window.samples.size(); ++i)
    window.samples[i] = state.sample_at(begin + static_cast<std::ptrdiff_t>(i));
  return window;
}

std::vector<float> mel_of(const WindowSamples& window, int mel_bins) {
  FrameTransform transform(mel_bins);
  const auto bins = static_cast<size_t>(mel_bins);
  std::vector<float> mel(kWindowFrames * bins, kSilence);
  for (size_t frame = 0; frame < window.audible_frames; ++frame)
    transform(std::span<const float, kFft>(window.samples.data() + frame * kHop, kFft),
              std::span(mel).subspan(frame * bins, bins));
  scale(mel);
  return mel;
}

std::vector<float> mel_transform_window() {
  const auto window = periodic_hann();
  return {window.begin(), window.end()};
}

std::vector<float> mel_filter_table(int mel_bins) {
  const MelFilters filters(mel_bins, kBins, kSampleRate / 2.0);
  const auto bins = static_cast<size_t>(mel_bins);
  std::vector<float> table(bins * kBins), column(bins);
  std::array<float, kBins> power{};
  for (size_t point = 0; point < kBins; ++point) {
    power[point] = 1;
    filters.apply(power, column);
    power[point] = 0;
    for (size_t bin = 0; bin < bins; ++bin) table[bin * kBins + point] = column[bin];
  }
  return table;
}

bool MelStream::reaches(size_t frame) {
  state_->read_until((frame + 1) * kHop);
  return state_->samples_read() / kHop > frame;
}

std::optional<size_t> MelStream::total_frames() const {
  return state_->ended ? std::optional(state_->samples_read() / kHop) : std::nullopt;
}

}  // namespace sotto
