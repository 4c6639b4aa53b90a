#include "audio/vad_network.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace sotto {
namespace {

#include "audio/vad_weights.inc"

// y = x W + b. The weights travel as 8-bit integers with one scale per column and are expanded once.
template <size_t kRows, size_t kColumns>
class Dense {
 public:
  Dense(const int8_t (&weights)[kRows * kColumns], const float (&scale)[kColumns],
        const float (&bias)[kColumns]) {
    for (size_t r = 0; r < kRows; ++r) {
      for (size_t c = 0; c < kColumns; ++c) {
        weights_[r * kColumns + c] = static_cast<float>(weights[r * kColumns + c]) * scale[c];
      }
    }
    std::copy_n(bias, kColumns, bias_.begin());
  }

  // Row by row, so that the compiler can use vectors over the columns without reordering any sum.
  std::array<float, kColumns> operator()(const std::array<float, kRows>& x) const {
    std::array<float, kColumns> y = bias_;
    for (size_t r = 0; r < kRows; ++r) {
      const float* row = weights_.data() + r * kColumns;
      for (size_t c = 0; c < kColumns; ++c) y[c] += x[r] * row[c];
    }
    return y;
  }

 private:
  std::array<float, kRows * kColumns> weights_;
  std::array<float, kColumns> bias_;
};

template <size_t kSize>
void rectify(std::array<float, kSize>& values) {
  for (float& value : values) value = std::max(value, 0.0F);
}

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

}  // namespace

struct VadNetwork::Weights {
  Dense<kContext * kVadBands, kConv> conv{kConvWeights, kConvScale, kConvBias};
  Dense<kConv, 3 * kHidden> input{kInWeights, kInScale, kInBias};
  Dense<kHidden, 3 * kHidden> state{kStateWeights, kStateScale, kStateBias};
  Dense<kHidden, kHead> head{kHeadWeights, kHeadScale, kHeadBias};
  Dense<kHead, kStride> out{kOutWeights, kOutScale, kOutBias};
};

const VadNetwork::Weights& VadNetwork::weights() {
  static const Weights instance;
  return instance;
}

std::array<float, VadNetwork::kStride> VadNetwork::step(const VadFeatures& first, const VadFeatures& second) {
  std::copy(frames_.begin() + kStride * kVadBands, frames_.end(), frames_.begin());
  std::copy(first.begin(), first.end(), frames_.end() - 2 * kVadBands);
  std::copy(second.begin(), second.end(), frames_.end() - kVadBands);

  const Weights& w = weights();
  std::array<float, kConv> conv = w.conv(frames_);
  rectify(conv);
  update_hidden(w.input(conv), w.state(hidden_));
  std::array<float, kHead> head = w.head(hidden_);
  rectify(head);
  std::array<float, kStride> probabilities = w.out(head);
  for (float& value : probabilities) value = sigmoid(value);
  return probabilities;
}

// The columns of both inputs hold the reset gate, the update gate and the candidate, in this order.
void VadNetwork::update_hidden(const std::array<float, 3 * kHidden>& from_input,
                               const std::array<float, 3 * kHidden>& from_state) {
  for (size_t i = 0; i < kHidden; ++i) {
    const float reset = sigmoid(from_input[i] + from_state[i]);
    const float update = sigmoid(from_input[kHidden + i] + from_state[kHidden + i]);
    const float candidate = std::tanh(from_input[2 * kHidden + i] + reset * from_state[2 * kHidden + i]);
    hidden_[i] = update * hidden_[i] + (1 - update) * candidate;
  }
}

}  // namespace sotto
