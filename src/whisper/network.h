#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "model/checkpoint.h"

namespace sotto {

// One attention block's weights.
struct AttentionWeights {
  std::unique_ptr<Norm> norm;
  std::unique_ptr<Matrix> query_key_value;  // stacked; for cross-attention only the query
  std::unique_ptr<Matrix> output;
};

struct FeedForwardWeights {
  std::unique_ptr<Norm> norm;
  std::unique_ptr<Matrix> expand;
  std::unique_ptr<Matrix> contract;
};

struct EncoderLayer {
  AttentionWeights self;
  FeedForwardWeights feed_forward;
};

struct DecoderLayer {
  AttentionWeights self;
  AttentionWeights cross;
  std::unique_ptr<Matrix> cross_key_value;  // applied to the encoder's output once per window
  FeedForwardWeights feed_forward;
};

// A Whisper network on a device: immutable weights, and nothing of a particular transcription.
class Network {
 public:
  // Packs the weights for the backend, tensor by tensor. The backend must outlive the network.
  Network(Backend& backend, const Checkpoint& checkpoint);

  const ModelConfig& config() const noexcept { return config_; }
  Backend& backend() const noexcept { return backend_; }
  int mel_frames() const noexcept { return 2 * config_.audio_positions; }
  size_t decoder_bytes() const noexcept;  // weights that one decoding step reads

 private:
  friend class Session;

  Backend& backend_;
  ModelConfig config_;
  std::unique_ptr<Matrix> conv1_, conv2_;
  std::unique_ptr<Memory> encoder_positions_, decoder_positions_;
  std::vector<EncoderLayer> encoder_;
  std::unique_ptr<Norm> encoder_norm_;
  std::unique_ptr<Matrix> token_table_;   // embedding, and the output matrix where the two are tied
  std::unique_ptr<Matrix> output_table_;  // only where they are not
  std::vector<DecoderLayer> decoder_;
  std::unique_ptr<Norm> decoder_norm_;
};

// What to choose from one row of a decoder call.
struct SamplePoint {
  size_t row = 0;
  SampleRequest request;
};

// A mel window (mel_frames x mel_bins values, frame by frame) and the number under which its encoding is
// kept. Where the backend computes mels it may be the samples instead, as Backend::mel takes them.
struct EncodeItem {
  int window = 0;
  std::span<const float> mel;
  std::span<const float> samples = {};
  size_t audible_frames = 0;  // of the samples
};

// The cross-attention of some heads, and how likely the model found each token that was to follow.
struct Alignment {
  size_t heads = 0, rows = 0, positions = 0;
  std::vector<float> weights;        // heads x rows x positions
  std::vector<float> probabilities;  // of the targets
};

// Caches and working memory for up to `windows` pieces of audio and `slots` sequences that listen to them.
class Session {
 public:
  // With tables, and a backend that computes mels, windows may come as samples.
  Session(const Network& network, int windows, int slots, const MelTables* mel_tables = nullptr);

  int windows() const noexcept { return windows_; }
  int slots() const noexcept { return slots_; }
  bool computes_mel() const noexcept { return mel_front_end_ != nullptr; }  // windows may come as samples

  // Encodes windows, as many together as the backend likes, and keeps their keys and values.
  void encode(std::span<const EncodeItem> items);
  void encode(int window, std::span<const float> mel) {
    encode(std::array{EncodeItem{.window = window, .mel = mel}});
  }

  // Runs the decoder over the rows; one result per sample point. The points are in the order of their rows.
  std::vector<SampleResult> decode(std::span<const DecodeRow> rows, std::span<const SamplePoint> points);

  // All logits of the rows (rows x vocabulary). For tests and tools: normally they never leave the device.
  std::vector<float> logits(std::span<const DecodeRow> rows);

  // The encoder's last output (audio_positions x width), or with `layer` >= 0 the state before that layer.
  // For tests.
  std::vector<float> encoder_states(std::span<const float> mel, int layer = -1);

  void copy_slot(int from, int to, int positions);

  // Runs the rows and tells where in the audio the given heads (decoder layer, head) look. targets[i] is the
  // token after row i.
  Alignment align(std::span<const DecodeRow> rows, std::span<const std::pair<int, int>> heads,
                  std::span<const TokenId> targets);

  // Bytes that one decoding step of a single sequence at this position reads: weights and caches.
  size_t step_bytes(int position) const;

 private:
  Rows part(size_t& offset, size_t rows, size_t width) const;
  void plan_encoder();
  void plan_decoder();
  Rows run_encoder(std::span<const EncodeItem> items, int stop_before_layer);
  void run_decoder(std::span<const DecodeRow> rows, std::span<const std::pair<int, int>> heads,
                   Alignment* alignment);
  Rows project(std::span<const size_t> chosen);  // logits of the chosen rows
  Rows step(std::span<const DecodeRow> rows);    // run_decoder and project for one new token of every row

  // Row numbers 0 .. rows-1, as many at a time as there is room for logits.
  void for_row_groups(size_t rows, const std::function<void(std::span<const size_t>)>& use) const;

  const Network& network_;
  Backend& backend_;
  const int windows_, slots_;
  size_t row_capacity_ = 0, logit_capacity_ = 0, encode_together_ = 1;
  std::unique_ptr<Memory> memory_, logits_memory_;
  std::unique_ptr<MelFrontEnd> mel_front_end_;  // where windows come as samples
  std::unique_ptr<SelfCache> self_cache_;
  std::unique_ptr<CrossCache> cross_cache_;
  // By the number of rows; nullptr: issued once, to be recorded the next time. Last: they use all of the
  // above.
  std::map<size_t, std::unique_ptr<Recording>> steps_;

  struct EncoderBuffers {
    Rows mel, conv, state, normed, qkv, attended, hidden, cross;
  } encoder_;
  struct DecoderBuffers {
    Rows state, normed, qkv, query, attended, hidden, logits;
  } decoder_;
};

}  // namespace sotto
