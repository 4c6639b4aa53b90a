#include "audio/vad.h"

#include <algorithm>
#include <array>

#include "audio/vad_features.h"
#include "audio/vad_network.h"

namespace sotto {

struct VoiceDetector::State {
  VadFrontEnd front_end;
  VadNetwork network;
  std::array<float, kVadFrame> block{};  // samples that do not fill a frame yet
  size_t in_block = 0;
  VadFeatures even_frame{};  // the first of the two frames that one step of the network takes
  int64_t frames = 0;        // features computed
  int64_t begun = 0;         // frames of the input, counting one that is begun
  int64_t judged = 0;        // probabilities handed out

  void push_block(std::vector<float>& probabilities);
  void take(const VadFeatures& features, std::vector<float>& probabilities);
};

void VoiceDetector::State::push_block(std::vector<float>& probabilities) {
  if (const VadFeatures* features = front_end.push(block)) take(*features, probabilities);
  in_block = 0;
}

void VoiceDetector::State::take(const VadFeatures& features, std::vector<float>& probabilities) {
  if (frames++ % VadNetwork::kStride == 0) {
    even_frame = features;
    return;
  }
  const auto pair = network.step(even_frame, features);
  if (frames <= VadNetwork::kDelay) return;  // these two would lie before the start
  for (const float probability : pair) {
    if (judged == begun) break;
    probabilities.push_back(probability);
    ++judged;
  }
}

VoiceDetector::VoiceDetector() : state_(std::make_unique<State>()) {}
VoiceDetector::~VoiceDetector() = default;
VoiceDetector::VoiceDetector(VoiceDetector&&) noexcept = default;
VoiceDetector& VoiceDetector::operator=(VoiceDetector&&) noexcept = default;

void VoiceDetector::push(std::span<const float> samples, std::vector<float>& probabilities) {
  State& state = *state_;
  while (!samples.empty()) {
    if (state.in_block == 0) ++state.begun;
    const size_t count = std::min(samples.size(), state.block.size() - state.in_block);
    std::copy_n(samples.begin(), count, state.block.begin() + static_cast<std::ptrdiff_t>(state.in_block));
    state.in_block += count;
    samples = samples.subspan(count);
    if (state.in_block == state.block.size()) state.push_block(probabilities);
  }
}

// The network has to see what follows the last frames: digital silence, as in its training.
void VoiceDetector::finish(std::vector<float>& probabilities) {
  State& state = *state_;
  while (state.judged < state.begun) {
    std::fill(state.block.begin() + static_cast<std::ptrdiff_t>(state.in_block), state.block.end(), 0.0F);
    state.push_block(probabilities);
  }
  state_ = std::make_unique<State>();
}

}  // namespace sotto
