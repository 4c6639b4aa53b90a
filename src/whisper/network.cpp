#include "whisper/network.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "base/error.h"

namespace sotto {
namespace {

// Looks up tensors by name and hands them to the backend in its own layout.
class Packer {
 public:
  Packer(Backend& backend, const Checkpoint& checkpoint) : backend_(backend), checkpoint_(checkpoint) {}

  std::unique_ptr<Matrix> matrix(MatrixUse use, std::initializer_list<std::string> names) const {
    std::vector<Backend::MatrixPart> parts;
    for (const std::string& name : names) parts.push_back({&tensor(name + ".weight"), find(name + ".bias")});
    return backend_.pack_matrix(parts, use);
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

  AttentionWeights attention(MatrixUse use, const std::string& layer) const {
    const std::string block = layer + ".self_attn";
    return {norm(block + "_layer_norm"),
            matrix(use, {block + ".q_proj", block + ".k_proj", block + ".v_proj"}),
            matrix(use, {block + ".out_proj"})};
  }

  AttentionWeights cross_attention(const std::string& layer) const {
    return {norm(layer + ".encoder_attn_layer_norm"),
            matrix(MatrixUse::few_rows, {layer + ".encoder_attn.q_proj"}),
            matrix(MatrixUse::few_rows, {layer + ".encoder_attn.out_proj"})};
  }

  FeedForwardWeights feed_forward(MatrixUse use, const std::string& layer) const {
    return {norm(layer + ".final_layer_norm"), matrix(use, {layer + ".fc1"}), matrix(use, {layer + ".fc2"})};
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

// One new token of every sequence, and something to choose from each: what decoding does nearly always.
bool is_step(std::span<const DecodeRow> rows, std::span<const SamplePoint> points, size_t capacity) {
  if (rows.empty() || rows.size() != points.size() || rows.size() > capacity) return false;
  for (size_t i = 0; i < points.size(); ++i)
    if (points[i].row != i) return false;
  return true;
}

// Refuses what a device has no room for before anything is moved there.
void require_room(const Backend& backend, std::string_view what, size_t needed, size_t free) {
  constexpr size_t kReserve = size_t{64} << 20;  // for the driver, and for what kernels need in passing
  constexpr double kMebibyte = 1 << 20;
  if (needed + kReserve <= free) return;
  throw Error(ErrorCode::out_of_memory,
              "{} needs {:.0f} MiB on {}, but {:.0f} MiB are free. Take a smaller --batch-size, "
              "--compute-type int8, a smaller model, or --device cpu",
              what, static_cast<double>(needed + kReserve) / kMebibyte, backend.description(),
              static_cast<double>(free) / kMebibyte);
}

void require_room_for_weights(const Backend& backend, const Checkpoint& checkpoint) {
  const auto room = backend.room();
  if (!room) return;
  size_t values = 0;
  for (const auto& [name, view] : checkpoint.tensors) values += static_cast<size_t>(view.elements());
  require_room(backend, "the model", values * room->weight_bytes, room->free);
}

size_t cache_values(const CacheShape& shape) {
  return 2 * static_cast<size_t>(shape.layers) * static_cast<size_t>(shape.entries) *
         static_cast<size_t>(shape.positions) * static_cast<size_t>(shape.width);
}

Rows whole(Memory& memory, int rows, int width) {
  return {&memory, 0, static_cast<size_t>(rows), static_cast<size_t>(width), static_cast<size_t>(width)};
}

}  // namespace

Network::Network(Backend& backend, const Checkpoint& checkpoint)
    : backend_(backend), config_(checkpoint.config) {
  require_room_for_weights(backend, checkpoint);
  const Packer pack(backend, checkpoint);
  conv1_ = pack.matrix(MatrixUse::many_rows, {"encoder.conv1"});
  conv2_ = pack.matrix(MatrixUse::many_rows, {"encoder.conv2"});
  encoder_positions_ = pack.table("encoder.embed_positions.weight");
  for (int i = 0; i < config_.encoder_layers; ++i) {
    const std::string layer = "encoder.layers." + std::to_string(i);
    encoder_.push_back(
        {pack.attention(MatrixUse::many_rows, layer), pack.feed_forward(MatrixUse::many_rows, layer)});
  }
  encoder_norm_ = pack.norm("encoder.layer_norm");

  token_table_ = pack.matrix(MatrixUse::few_rows, {"decoder.embed_tokens"});
  if (pack.find("proj_out.weight") != nullptr) output_table_ = pack.matrix(MatrixUse::few_rows, {"proj_out"});
  decoder_positions_ = pack.table("decoder.embed_positions.weight");
  for (int i = 0; i < config_.decoder_layers; ++i) {
    const std::string layer = "decoder.layers." + std::to_string(i);
    decoder_.push_back(
        {pack.attention(MatrixUse::few_rows, layer), pack.cross_attention(layer),
         pack.matrix(MatrixUse::many_rows, {layer + ".encoder_attn.k_proj", layer + ".encoder_attn.v_proj"}),
         pack.feed_forward(MatrixUse::few_rows, layer)});
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

Session::Session(const Network& network, int windows, int slots, const MelTables* mel_tables)
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
  for (const Rows& rows : {encoder_.mel, encoder_.conv, encoder_.state, encoder_.normed, encoder_.qkv,
                           encoder_.attended, encoder_.hidden, encoder_.cross, decoder_.state,
                           decoder_.normed, decoder_.qkv, decoder_.query, decoder_.attended, decoder_.hidden})
    elements = std::max(elements, rows.offset + rows.count * rows.stride);
  const CacheShape self{config.decoder_layers, slots, config.text_positions, config.decoder_heads,
                        config.width};
  const CacheShape cross{config.decoder_layers, windows, config.audio_positions, config.decoder_heads,
                         config.width};
  const size_t logits = logit_capacity_ * static_cast<size_t>(config.vocabulary);
  if (const auto room = backend_.room())
    require_room(
        backend_, fmt::format("decoding {} windows with {} hypotheses at a time", windows, slots),
        (elements + cache_values(self) + cache_values(cross)) * room->value_bytes + logits * sizeof(float),
        room->free);
  memory_ = backend_.allocate(elements);
  logits_memory_ = backend_.allocate(logits, Precision::full);
  plan_encoder();
  plan_decoder();

  if (mel_tables != nullptr && backend_.computes_mel())
    mel_front_end_ = backend_.make_mel_front_end(*mel_tables);
  self_cache_ = backend_.make_self_cache(self);
  cross_cache_ = backend_.make_cross_cache(cross);
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
  const size_t feed_forward_rows = backend_.feed_forward_rows();
  size_t shared = offset;
  encoder_.mel = part(shared, padded_frames, static_cast<size_t>(config.mel_bins));
  encoder_.conv = part(shared, padded_frames, width);
  shared = offset;
  encoder_.qkv = part(shared, positions, 3 * width);
  shared = offset;
  encoder_.hidden =
      part(shared, std::min(positions, feed_forward_rows), static_cast<size_t>(config.encoder_ffn));
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
  const auto vocabulary = static_cast<size_t>(config.vocabulary);
  decoder_.logits = {logits_memory_.get(), 0, logit_capacity_, vocabulary, vocabulary};
}

Rows Session::run_encoder(std::span<const EncodeItem> items, int stop_before_layer) {
  const ModelConfig& config = network_.config();
  const auto frames = static_cast<size_t>(network_.mel_frames()),
             positions = static_cast<size_t>(config.audio_positions);
  const auto windows = static_cast<int>(items.size());
  const size_t feed_forward_rows = backend_.feed_forward_rows();
  EncoderBuffers b = encoder_;
  for (Rows* rows : {&b.state, &b.normed, &b.qkv, &b.attended}) rows->count = items.size() * positions;

  // Both convolutions read one zero row on either side of their input.
  for (const Rows& padded : {b.mel, b.conv}) {
    backend_.fill_zero(padded.rows(0, 1));
    backend_.fill_zero(padded.rows(frames + 1, 1));
  }
  const Rows table = whole(*network_.encoder_positions_, config.audio_positions, config.width);
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].samples.empty())
      backend_.write(b.mel.rows(1, frames), items[i].mel);
    else if (mel_front_end_)
      backend_.mel(*mel_front_end_, items[i].samples, items[i].audible_frames, b.mel.rows(1, frames));
    else
      throw Error(ErrorCode::internal, "[encoder] samples where a mel spectrogram belongs");
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
    for (size_t row = 0; row < b.state.count; row += feed_forward_rows) {
      const size_t rows = std::min(feed_forward_rows, b.state.count - row);
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
      for (size_t i = 0; i < now.size();) {  // neighbours together
        size_t n = 1;
        while (i + n < now.size() && now[i + n].window == now[i].window + static_cast<int>(n)) ++n;
        backend_.project_cross(*layer.cross_key_value, output.rows(i * positions, n * positions),
                               *cross_cache_, index, now[i].window, cross.rows(0, n * positions));
        i += n;
      }
      ++index;
    }
  }
}

std::vector<float> Session::encoder_states(std::span<const float> mel, int layer) {
  const Rows output = run_encoder(std::array{EncodeItem{.mel = mel}}, layer);
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
  for (size_t i = 0; i < chosen.size();) {  // neighbours together
    size_t n = 1;
    while (i + n < chosen.size() && chosen[i + n] == chosen[i] + n) ++n;
    backend_.layer_norm(*network_.decoder_norm_, decoder_.state.rows(chosen[i], n),
                        decoder_.normed.rows(i, n));
    i += n;
  }
  const Rows logits = decoder_.logits.rows(0, chosen.size());
  const Matrix& table = network_.output_table_ ? *network_.output_table_ : *network_.token_table_;
  backend_.linear(table, decoder_.normed.rows(0, chosen.size()), logits);
  return logits;
}

Rows Session::step(std::span<const DecodeRow> rows) {
  const auto found = steps_.find(rows.size());
  if (found != steps_.end() && found->second) {
    backend_.replay(*found->second, rows);
    return decoder_.logits.rows(0, rows.size());
  }
  std::vector<size_t> all(rows.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const auto issue = [&] {
    run_decoder(rows, {}, nullptr);
    project(all);
  };
  // What is issued once may be a rare number of rows, and recording costs time: the second time is soon
  // enough.
  if (found == steps_.end()) {
    steps_[rows.size()] = nullptr;
    issue();
  } else {
    found->second = backend_.record(rows, issue);
  }
  return decoder_.logits.rows(0, rows.size());
}

std::vector<SampleResult> Session::decode(std::span<const DecodeRow> rows,
                                          std::span<const SamplePoint> points) {
  if (is_step(rows, points, logit_capacity_)) {
    std::vector<SampleRequest> requests;
    for (const SamplePoint& point : points) requests.push_back(point.request);
    return backend_.sample(step(rows), requests);
  }
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

void Session::for_row_groups(size_t rows, const std::function<void(std::span<const size_t>)>& use) const {
  std::vector<size_t> all(rows);
  std::iota(all.begin(), all.end(), size_t{0});
  for (std::span<const size_t> rest = all; !rest.empty();) {
    const size_t now = std::min(rest.size(), logit_capacity_);
    use(rest.first(now));
    rest = rest.subspan(now);
  }
}

std::vector<float> Session::logits(std::span<const DecodeRow> rows) {
  run_decoder(rows, {}, nullptr);
  const auto vocabulary = static_cast<size_t>(network_.config().vocabulary);
  std::vector<float> values(rows.size() * vocabulary);
  for_row_groups(rows.size(), [&](std::span<const size_t> group) {
    backend_.read(project(group),
                  std::span(values).subspan(group.front() * vocabulary, group.size() * vocabulary));
  });
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
  for_row_groups(targets.size(), [&](std::span<const size_t> group) {
    std::vector<SampleRequest> requests(group.size());
    for (size_t i = 0; i < group.size(); ++i) requests[i].probe = targets[group[i]];
    for (const SampleResult& result : backend_.sample(project(group), requests))
      alignment.probabilities.push_back(result.probe_probability);
  });
  return alignment;
}

size_t Session::step_bytes(int position) const {
  return network_.decoder_bytes() + cross_cache_->window_bytes() +
         static_cast<size_t>(position) * self_cache_->position_bytes();
}

}  // namespace sotto
