#include "whisper/network.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/error.h"

namespace sotto {
namespace {

// Rows that go through the encoder's feed-forward layer together: its hidden state is four times as wide as
// all else, and would make up most of the working memory.
constexpr size_t kFeedForwardRows = 768;

// Looks up tensors by name and hands them to the backend in its own layout.
class Packer {
 public:
  Packer(Backend& backend, const Checkpoint& checkpoint) : backend_(backend), checkpoint_(checkpoint) {}

  std::unique_ptr<Matrix> matrix(std::initializer_list<std::string> names) const {
    std::vector<Backend::MatrixPart> parts;
    for (const std::string& name : names) parts.push_back({&tensor(name + ".weight"), find(name + ".bias")});
    return backend_.pack_matrix(parts);
  }

  std::unique_ptr<Norm> norm(const std::string& name) const {
    return backend_.pack_norm(tensor(name + ".weight"), tensor(name + ".bias"));
  }

  std::unique_ptr<Memory> table(const std::string& name) const {
    const TensorView& view = tensor(name);
    auto memory = backend_.allocate(static_cast<size_t>(view.elements()));
    const auto rows = static_cast<size_t>(view.rows()), width = static_cast<size_t>(view.row_elements());
    backend_.write({memory.get(), 0, rows, width, width}, read_all(view));
    return memory;
  }

  AttentionWeights attention(const std::string& block, const std::string& norm_name) const {
    return {norm(norm_name), matrix({block + ".q_proj", block + ".k_proj", block + ".v_proj"}),
            matrix({block + ".out_proj"})};
  }

  AttentionWeights cross_attention(const std::string& layer) const {
    return {norm(layer + ".encoder_attn_layer_norm"), matrix({layer + ".encoder_attn.q_proj"}),
            matrix({layer + ".encoder_attn.out_proj"})};
  }

  FeedForwardWeights feed_forward(const std::string& layer) const {
    return {norm(layer + ".final_layer_norm"), matrix({layer + ".fc1"}), matrix({layer + ".fc2"})};
  }

  const TensorView* find(const std::string& name) const {
    const auto found = checkpoint_.tensors.find(name);
    return found == checkpoint_.tensors.end() ? nullptr : &found->second;
  }

 private:
  const TensorView& tensor(const std::string& name) const {
    if (const TensorView* view = find(name)) return *view;
    throw Error(ErrorCode::bad_model, "{}: the tensor '{}' is missing", checkpoint_.source, name);
  }

  Backend& backend_;
  const Checkpoint& checkpoint_;
};

// Rows x heads x positions, as the backend gives them, to heads x rows x positions.
void append_by_head(std::span<const float> weights, size_t heads, Alignment& to) {
  for (size_t head = 0; head < heads; ++head)
    for (size_t row = 0; row < to.rows; ++row) {
      const auto part = weights.subspan((row * heads + head) * to.positions, to.positions);
      to.weights.insert(to.weights.end(), part.begin(), part.end());
    }
  to.heads += heads;
}

Rows whole(Memory& memory, int rows, int width) {
  return {&memory, 0, static_cast<size_t>(rows), static_cast<size_t>(width), static_cast<size_t>(width)};
}

}  // namespace

Network::Network(Backend& backend, const Checkpoint& checkpoint)
    : backend_(backend), config_(checkpoint.config) {
  const Packer pack(backend, checkpoint);
  conv1_ = pack.matrix({"encoder.conv1"});
  conv2_ = pack.matrix({"encoder.conv2"});
  encoder_positions_ = pack.table("encoder.embed_positions.weight");
  for (int i = 0; i < config_.encoder_layers; ++i) {
    const std::string layer = "encoder.layers." + std::to_string(i);
    encoder_.push_back(
        {pack.attention(layer + ".self_attn", layer + ".self_attn_layer_norm"), pack.feed_forward(layer)});
  }
  encoder_norm_ = pack.norm("encoder.layer_norm");

  token_table_ = pack.matrix({"decoder.embed_tokens"});
  if (pack.find("proj_out.weight") != nullptr) output_table_ = pack.matrix({"proj_out"});
  decoder_positions_ = pack.table("decoder.embed_positions.weight");
  for (int i = 0; i < config_.decoder_layers; ++i) {
    const std::string layer = "decoder.layers." + std::to_string(i);
    decoder_.push_back({pack.attention(layer + ".self_attn", layer + ".self_attn_layer_norm"),
                        pack.cross_attention(layer),
                        pack.matrix({layer + ".encoder_attn.k_proj", layer + ".encoder_attn.v_proj"}),
                        pack.feed_forward(layer)});
  }
  decoder_norm_ = pack.norm("decoder.layer_norm");
}

size_t Network::decoder_bytes() const noexcept {
  size_t bytes = (output_table_ ? output_table_ : token_table_)->bytes();
  for (const DecoderLayer& layer : decoder_)
    for (const Matrix* matrix :
         {layer.self.query_key_value.get(), layer.self.output.get(), layer.cross.query_key_value.get(),
          layer.cross.output.get(), layer.feed_forward.expand.get(), layer.feed_forward.contract.get()})
      bytes += matrix->bytes();
  return bytes;
}

Session::Session(const Network& network, int windows, int slots)
    : network_(network), backend_(network.backend()), windows_(windows), slots_(slots) {
  const ModelConfig& config = network.config();
  // A call carries at least one whole prompt, or one new token for every slot.
  row_capacity_ = static_cast<size_t>(std::max(slots, config.text_positions));
  logit_capacity_ = static_cast<size_t>(slots) + 1;
  encode_together_ = static_cast<size_t>(std::clamp(backend_.windows_to_encode_together(), 1, windows));

  // The encoder and the decoder never run at the same time, so they share one arena; planning twice gives its
  // size.
  plan_encoder();
  plan_decoder();
  size_t elements = 0;
  for (const Rows& rows :
       {encoder_.mel, encoder_.conv, encoder_.state, encoder_.normed, encoder_.qkv, encoder_.attended,
        encoder_.hidden, encoder_.cross, decoder_.state, decoder_.normed, decoder_.qkv, decoder_.query,
        decoder_.attended, decoder_.hidden, decoder_.logits})
    elements = std::max(elements, rows.offset + rows.count * rows.stride);
  memory_ = backend_.allocate(elements);
  plan_encoder();
  plan_decoder();

  self_cache_ = backend_.make_self_cache(
      {config.decoder_layers, slots, config.text_positions, config.decoder_heads, config.width});
  cross_cache_ = backend_.make_cross_cache(
      {config.decoder_layers, windows, config.audio_positions, config.decoder_heads, config.width});
}

Rows Session::part(size_t& offset, size_t rows, size_t width) const {
  constexpr size_t kAlignment = 64;  // elements
  const Rows result{memory_.get(), offset, rows, width, width};
  offset += (rows * width + kAlignment - 1) / kAlignment * kAlignment;
  return result;
}

void Session::plan_encoder() {
  const ModelConfig& config = network_.config();
  const size_t positions = encode_together_ * static_cast<size_t>(config.audio_positions);
  const auto width = static_cast<size_t>(config.width);
  const auto padded_frames = static_cast<size_t>(network_.mel_frames()) + 2;
  size_t offset = 0;
  encoder_.state = part(offset, positions, width);
  encoder_.normed = part(offset, positions, width);
  encoder_.attended = encoder_.normed;  // the normed rows have gone into the queries, keys and values by then
  // What follows is never needed at the same time: the convolutions' input, the attention, the feed-forward
  // layer.
  size_t shared = offset;
  encoder_.mel = part(shared, padded_frames, static_cast<size_t>(config.mel_bins));
  encoder_.conv = part(shared, padded_frames, width);
  shared = offset;
  encoder_.qkv = part(shared, positions, 3 * width);
  shared = offset;
  encoder_.hidden =
      part(shared, std::min(positions, kFeedForwardRows), static_cast<size_t>(config.encoder_ffn));
  shared = offset;
  encoder_.cross = part(shared, positions, 2 * width);
}

void Session::plan_decoder() {
  const ModelConfig& config = network_.config();
  const auto width = static_cast<size_t>(config.width);
  size_t offset = 0;
  decoder_.state = part(offset, row_capacity_, width);
  decoder_.normed = part(offset, row_capacity_, width);
  decoder_.qkv = part(offset, row_capacity_, 3 * width);
  decoder_.query = part(offset, row_capacity_, width);
  decoder_.attended = part(offset, row_capacity_, width);
  decoder_.hidden = part(offset, row_capacity_, static_cast<size_t>(config.decoder_ffn));
  decoder_.logits = part(offset, logit_capacity_, static_cast<size_t>(config.vocabulary));
}

Rows Session::run_encoder(std::span<const EncodeItem> items, int stop_before_layer) {
  const ModelConfig& config = network_.config();
  const auto frames = static_cast<size_t>(network_.mel_frames()),
             positions = static_cast<size_t>(config.audio_positions);
  const auto windows = static_cast<int>(items.size());
  EncoderBuffers b = encoder_;
  for (Rows* rows : {&b.state, &b.normed, &b.qkv, &b.attended}) rows->count = items.size() * positions;

  // Both convolutions read one zero row on either side of their input.
  for (const Rows& padded : {b.mel, b.conv}) {
    backend_.fill_zero(padded.rows(0, 1));
    backend_.fill_zero(padded.rows(frames + 1, 1));
  }
  const Rows table = whole(*network_.encoder_positions_, config.audio_positions, config.width);
  for (size_t i = 0; i < items.size(); ++i) {
    backend_.write(b.mel.rows(1, frames), items[i].mel);
    backend_.convolve(*network_.conv1_, b.mel, b.conv.rows(1, frames), 1, nullptr);
    backend_.convolve(*network_.conv2_, b.conv, b.state.rows(i * positions, positions), 2, &table);
  }

  int index = 0;
  for (const EncoderLayer& layer : network_.encoder_) {
    if (index++ == stop_before_layer) return b.state;
    const Epilogue add_to_state{.residual = &b.state};
    backend_.layer_norm(*layer.self.norm, b.state, b.normed);
    backend_.linear(*layer.self.query_key_value, b.normed, b.qkv);
    backend_.attend_encoder(b.qkv, b.attended, config.encoder_heads, windows);
    backend_.linear(*layer.self.output, b.attended, b.state, add_to_state);
    backend_.layer_norm(*layer.feed_forward.norm, b.state, b.normed);
    for (size_t row = 0; row < b.state.count; row += kFeedForwardRows) {
      const size_t rows = std::min(kFeedForwardRows, b.state.count - row);
      const Rows state = b.state.rows(row, rows), hidden = b.hidden.rows(0, rows);
      backend_.linear(*layer.feed_forward.expand, b.normed.rows(row, rows), hidden, {.gelu = true});
      backend_.linear(*layer.feed_forward.contract, hidden, state, {.residual = &state});
    }
  }
  backend_.layer_norm(*network_.encoder_norm_, b.state, b.normed);
  return b.normed;
}

void Session::encode(std::span<const EncodeItem> items) {
  const auto positions = static_cast<size_t>(network_.config().audio_positions);
  while (!items.empty()) {
    const auto now = items.first(std::min(items.size(), encode_together_));
    items = items.subspan(now.size());
    const Rows output = run_encoder(now, -1);
    Rows cross = encoder_.cross;
    cross.count = output.count;
    int index = 0;
    for (const DecoderLayer& layer : network_.decoder_) {
      backend_.linear(*layer.cross_key_value, output, cross);
      for (size_t i = 0; i < now.size(); ++i)
        backend_.store_cross(*cross_cache_, index, now[i].window, cross.rows(i * positions, positions));
      ++index;
    }
  }
}

std::vector<float> Session::encoder_states(std::span<const float> mel, int layer) {
  const Rows output = run_encoder(std::array{EncodeItem{0, mel}}, layer);
  std::vector<float> values(output.count * output.width);
  backend_.read(output, values);
  return values;
}

void Session::run_decoder(std::span<const DecodeRow> rows, std::span<const std::pair<int, int>> heads,
                          Alignment* alignment) {
  const ModelConfig& config = network_.config();
  const size_t count = rows.size();
  if (count > row_capacity_)
    throw Error(ErrorCode::internal, "[decoder] {} rows, but the session has room for {}", count,
                row_capacity_);
  const Rows state = decoder_.state.rows(0, count), normed = decoder_.normed.rows(0, count),
             qkv = decoder_.qkv.rows(0, count), query = decoder_.query.rows(0, count),
             attended = decoder_.attended.rows(0, count), hidden = decoder_.hidden.rows(0, count);
  const Epilogue add_to_state{.residual = &state};

  backend_.embed(*network_.token_table_,
                 whole(*network_.decoder_positions_, config.text_positions, config.width), rows, state);
  int index = 0;
  for (const DecoderLayer& layer : network_.decoder_) {
    backend_.layer_norm(*layer.self.norm, state, normed);
    backend_.linear(*layer.self.query_key_value, normed, qkv);
    backend_.attend_self(*self_cache_, index, qkv, rows, attended);
    backend_.linear(*layer.self.output, attended, state, add_to_state);
    backend_.layer_norm(*layer.cross.norm, state, normed);
    backend_.linear(*layer.cross.query_key_value, normed, query);
    std::vector<int> watched;
    for (const auto& [layer_index, head] : heads)
      if (layer_index == index) watched.push_back(head);
    if (watched.empty()) {
      backend_.attend_cross(*cross_cache_, index, query, rows, attended);
    } else {
      std::vector<float> weights;
      const CrossWeightsRequest request{watched, &weights};
      backend_.attend_cross(*cross_cache_, index, query, rows, attended, &request);
      append_by_head(weights, watched.size(), *alignment);
    }
    backend_.linear(*layer.cross.output, attended, state, add_to_state);
    backend_.layer_norm(*layer.feed_forward.norm, state, normed);
    backend_.linear(*layer.feed_forward.expand, normed, hidden, {.gelu = true});
    backend_.linear(*layer.feed_forward.contract, hidden, state, add_to_state);
    ++index;
  }
}

Rows Session::project(std::span<const size_t> chosen) {
  for (size_t i = 0; i < chosen.size(); ++i)
    backend_.layer_norm(*network_.decoder_norm_, decoder_.state.rows(chosen[i], 1),
                        decoder_.normed.rows(i, 1));
  const Rows logits = decoder_.logits.rows(0, chosen.size());
  const Matrix& table = network_.output_table_ ? *network_.output_table_ : *network_.token_table_;
  backend_.linear(table, decoder_.normed.rows(0, chosen.size()), logits);
  return logits;
}

std::vector<SampleResult> Session::decode(std::span<const DecodeRow> rows,
                                          std::span<const SamplePoint> points) {
  std::vector<SampleResult> results;
  results.reserve(points.size());
  // More rows than there is room for go in several calls; the points are in the order of their rows.
  for (size_t first = 0; first < rows.size(); first += row_capacity_) {
    const auto now = rows.subspan(first, std::min(row_capacity_, rows.size() - first));
    run_decoder(now, {}, nullptr);
    while (!points.empty() && points.front().row < first + now.size()) {
      std::vector<size_t> chosen;
      std::vector<SampleRequest> requests;
      while (!points.empty() && points.front().row < first + now.size() && chosen.size() < logit_capacity_) {
        chosen.push_back(points.front().row - first);
        requests.push_back(points.front().request);
        points = points.subspan(1);
      }
      for (SampleResult& result : backend_.sample(project(chosen), requests))
        results.push_back(std::move(result));
    }
  }
  return results;
}

std::vector<float> Session::logits(std::span<const DecodeRow> rows) {
  run_decoder(rows, {}, nullptr);
  const auto vocabulary = static_cast<size_t>(network_.config().vocabulary);
  std::vector<float> values(rows.size() * vocabulary);
  for (size_t row = 0; row < rows.size(); ++row)
    backend_.read(project(std::array{row}), std::span(values).subspan(row * vocabulary, vocabulary));
  return values;
}

void Session::copy_slot(int from, int to, int positions) {
  backend_.copy_slot(*self_cache_, from, to, positions);
}

Alignment Session::align(std::span<const DecodeRow> rows, std::span<const std::pair<int, int>> heads,
                         std::span<const TokenId> targets) {
  Alignment alignment;
  alignment.rows = rows.size();
  alignment.positions = static_cast<size_t>(network_.config().audio_positions);
  run_decoder(rows, heads, &alignment);
  for (size_t row = 0; row < targets.size(); ++row) {
    SampleRequest request;
    request.probe = targets[row];
    alignment.probabilities.push_back(
        backend_.sample(project(std::array{row}), std::array{request}).front().probe_probability);
  }
  return alignment;
}

size_t Session::step_bytes(int position) const {
  return network_.decoder_bytes() + cross_cache_->window_bytes() +
         static_cast<size_t>(position) * self_cache_->position_bytes();
}

}  // namespace sotto
