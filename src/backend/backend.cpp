#include "backend/backend.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace sotto {
namespace {

constexpr std::pair<ComputeType, std::string_view> kComputeTypeNames[] = {
    {ComputeType::automatic, "auto"},
    {ComputeType::float32, "float32"},
    {ComputeType::float16, "float16"},
    {ComputeType::bfloat16, "bfloat16"},
    {ComputeType::int8, "int8"},
    {ComputeType::int8_float32, "int8_float32"},
    {ComputeType::int8_float16, "int8_float16"},
};

// A wrong shape is a bug of ours, so the messages name the operation and the numbers for whoever must find
// it.
void require_equal(const char* op, const char* what, size_t actual, size_t wanted) {
  if (actual != wanted)
    throw Error(ErrorCode::internal, "{}: {} should be {} but is {}", op, what, wanted, actual);
}

void require_positive(const char* op, const char* what, int64_t value) {
  if (value <= 0) throw Error(ErrorCode::internal, "{}: {} should be positive but is {}", op, what, value);
}

void require_index(const char* op, const char* what, int64_t index, int64_t count) {
  if (index < 0 || index >= count)
    throw Error(ErrorCode::internal, "{}: {} {} is outside of 0..{}", op, what, index, count - 1);
}

void require_width(const char* op, const char* what, const Rows& rows, size_t width) {
  if (rows.width != width)
    throw Error(ErrorCode::internal, "{}: rows of {} should be {} wide but are {}", op, what, width,
                rows.width);
}

void require_count(const char* op, const char* what, const Rows& rows, size_t count) {
  if (rows.count != count)
    throw Error(ErrorCode::internal, "{}: {} should have {} rows but has {}", op, what, count, rows.count);
}

// Every row lies inside its memory, and no row reaches into the next.
void require_rows(const char* op, const char* what, const Rows& rows) {
  if (rows.memory == nullptr) throw Error(ErrorCode::internal, "{}: {} has no memory", op, what);
  if (rows.count == 0) return;
  const size_t elements = rows.memory->elements();
  const bool fits =
      rows.width <= elements && rows.offset <= elements - rows.width &&
      (rows.count == 1 || (rows.stride >= rows.width && rows.stride > 0 &&
                           (rows.count - 1) <= (elements - rows.width - rows.offset) / rows.stride));
  if (!fits)
    throw Error(ErrorCode::internal,
                "{}: {} ({} rows of {} at offset {}, {} apart) do not fit into {} elements", op, what,
                rows.count, rows.width, rows.offset, rows.stride, elements);
}

void require_heads(const char* op, int heads, size_t width) {
  require_positive(op, "the number of heads", heads);
  if (width % static_cast<size_t>(heads) != 0)
    throw Error(ErrorCode::internal, "{}: a width of {} cannot be split into {} heads", op, width, heads);
}

void require_cache_shape(const char* op, const CacheShape& shape) {
  require_positive(op, "layers", shape.layers);
  require_positive(op, "entries", shape.entries);
  require_positive(op, "positions", shape.positions);
  require_positive(op, "width", shape.width);
  require_heads(op, shape.heads, static_cast<size_t>(shape.width));
  constexpr double kMostElements = 1e15;  // far beyond any device, and far from overflowing a size
  if (double{1} * shape.layers * shape.entries * shape.positions * shape.width > kMostElements)
    throw Error(ErrorCode::out_of_memory,
                "{}: {} layers x {} entries x {} positions x {} values are too many", op, shape.layers,
                shape.entries, shape.positions, shape.width);
}

// A slot's rows are neighbours with consecutive positions, and each slot appears once.
void require_decode_rows(const char* op, const CacheShape& shape, std::span<const DecodeRow> rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    require_index(op, "slot", rows[i].slot, shape.entries);
    require_index(op, "position", rows[i].position, shape.positions);
    if (i > 0 && rows[i].slot == rows[i - 1].slot) {
      if (rows[i].position != rows[i - 1].position + 1)
        throw Error(ErrorCode::internal, "{}: row {} of slot {} should be at position {} but is at {}", op, i,
                    rows[i].slot, rows[i - 1].position + 1, rows[i].position);
      continue;
    }
    for (size_t before = 0; before < i; ++before)
      if (rows[before].slot == rows[i].slot)
        throw Error(ErrorCode::internal, "{}: rows {} and {} of slot {} are not neighbours", op, before, i,
                    rows[i].slot);
  }
}

void require_request(const SampleRequest& request, size_t vocabulary) {
  const auto tokens = static_cast<int64_t>(vocabulary);
  for (const int32_t token : request.suppressed) require_index("sample", "suppressed token", token, tokens);
  for (const int32_t token : request.penalised) require_index("sample", "penalised token", token, tokens);
  for (const TokenRange& range : request.banned)
    if (range.first < 0 || range.first > range.last || range.last > tokens)
      throw Error(ErrorCode::internal, "sample: banned range [{}, {}) is outside of {} tokens", range.first,
                  range.last, tokens);
  if (request.timestamp_begin >= 0)
    require_index("sample", "the first timestamp", request.timestamp_begin, tokens + 1);
  if (request.probe >= 0) require_index("sample", "probe", request.probe, tokens);
  require_positive("sample", "the number of candidates", request.candidates);
  if (!(request.penalty > 0))
    throw Error(ErrorCode::internal, "sample: the penalty should be positive but is {}", request.penalty);
  if (!(request.temperature >= 0) || !(request.uniform >= 0 && request.uniform < 1))
    throw Error(ErrorCode::internal, "sample: cannot draw with temperature {} and number {}",
                request.temperature, request.uniform);
}

}  // namespace

std::string_view compute_type_name(ComputeType type) noexcept {
  for (const auto& [known, name] : kComputeTypeNames)
    if (known == type) return name;
  return "unknown";
}

std::optional<ComputeType> compute_type_from_name(std::string_view name) noexcept {
  for (const auto& [type, known] : kComputeTypeNames)
    if (known == name) return type;
  return std::nullopt;
}

std::unique_ptr<Matrix> Backend::pack_matrix(std::span<const MatrixPart> parts, MatrixUse use) {
  const char* const op = "pack_matrix";
  if (parts.empty()) throw Error(ErrorCode::internal, "{}: no weights were given", op);
  for (const MatrixPart& part : parts) {
    if (part.weight == nullptr || part.weight->shape.size() < 2 || part.weight->elements() <= 0)
      throw Error(ErrorCode::internal, "{}: a weight should have outputs and inputs but has the shape {}", op,
                  part.weight == nullptr ? "none" : shape_text(part.weight->shape));
    require_equal(op, "the number of inputs", static_cast<size_t>(part.weight->row_elements()),
                  static_cast<size_t>(parts.front().weight->row_elements()));
    if (part.bias != nullptr)
      require_equal(op, "the size of the bias", static_cast<size_t>(part.bias->elements()),
                    static_cast<size_t>(part.weight->rows()));
  }
  auto matrix = do_pack_matrix(parts, use);
  weight_bytes_ += matrix->bytes();
  return matrix;
}

std::unique_ptr<Norm> Backend::pack_norm(const TensorView& scale, const TensorView& shift) {
  require_positive("pack_norm", "the width", scale.elements());
  require_equal("pack_norm", "the size of the shift", static_cast<size_t>(shift.elements()),
                static_cast<size_t>(scale.elements()));
  return do_pack_norm(scale, shift);
}

std::unique_ptr<Memory> Backend::allocate(size_t elements, Precision precision) {
  return do_allocate(elements, precision);
}

std::unique_ptr<SelfCache> Backend::make_self_cache(const CacheShape& shape) {
  require_cache_shape("make_self_cache", shape);
  return do_make_self_cache(shape);
}

std::unique_ptr<CrossCache> Backend::make_cross_cache(const CacheShape& shape) {
  require_cache_shape("make_cross_cache", shape);
  return do_make_cross_cache(shape);
}

void Backend::write(const Rows& to, std::span<const float> from) {
  require_rows("write", "the target", to);
  require_equal("write", "the number of values", from.size(), to.count * to.width);
  do_write(to, from);
}

void Backend::read(const Rows& from, std::span<float> to) {
  require_rows("read", "the source", from);
  require_equal("read", "the number of values", to.size(), from.count * from.width);
  do_read(from, to);
}

void Backend::fill_zero(const Rows& rows) {
  require_rows("fill_zero", "the target", rows);
  do_fill_zero(rows);
}

std::unique_ptr<MelFrontEnd> Backend::make_mel_front_end(const MelTables& tables) {
  require_positive("make_mel_front_end", "the number of bins", static_cast<int64_t>(tables.bins));
  require_equal("make_mel_front_end", "the size of the window", tables.window.size(), kMelTransformPoints);
  require_equal("make_mel_front_end", "the size of the filters", tables.filters.size(),
                tables.bins * kMelSpectrumPoints);
  return do_make_mel_front_end(tables);
}

void Backend::mel(const MelFrontEnd& front_end, std::span<const float> samples, size_t audible,
                  const Rows& out) {
  require_rows("mel", "out", out);
  require_width("mel", "out", out, front_end.bins());
  require_equal("mel", "the number of samples", samples.size(),
                out.count * kMelStepSamples + kMelTransformPoints - kMelStepSamples);
  do_mel(front_end, samples, audible, out);
}

std::unique_ptr<MelFrontEnd> Backend::do_make_mel_front_end(const MelTables&) {
  throw Error(ErrorCode::internal, "make_mel_front_end: {} computes no mel spectrogram", description());
}

void Backend::do_mel(const MelFrontEnd&, std::span<const float>, size_t, const Rows&) {
  throw Error(ErrorCode::internal, "mel: {} computes no mel spectrogram", description());
}

void Backend::linear(const Matrix& weights, const Rows& x, const Rows& y, const Epilogue& epilogue) {
  require_rows("linear", "x", x);
  require_rows("linear", "y", y);
  require_width("linear", "x", x, weights.inputs());
  require_width("linear", "y", y, weights.outputs());
  require_count("linear", "y", y, x.count);
  if (epilogue.residual != nullptr) {
    require_rows("linear", "the residual", *epilogue.residual);
    require_width("linear", "the residual", *epilogue.residual, weights.outputs());
    require_count("linear", "the residual", *epilogue.residual, x.count);
  }
  do_linear(weights, x, y, epilogue);
}

void Backend::convolve(const Matrix& weights, const Rows& x, const Rows& y, int stride, const Rows* addend) {
  require_rows("convolve", "x", x);
  require_rows("convolve", "y", y);
  require_positive("convolve", "the stride", stride);
  require_equal("convolve", "the number of inputs", weights.inputs(), 3 * x.width);
  require_width("convolve", "y", y, weights.outputs());
  if (y.count > 0 && (y.count - 1) * static_cast<size_t>(stride) + 3 > x.count)
    throw Error(ErrorCode::internal, "convolve: {} outputs with stride {} need more than {} rows", y.count,
                stride, x.count);
  if (addend != nullptr) {
    require_rows("convolve", "the addend", *addend);
    require_width("convolve", "the addend", *addend, weights.outputs());
    require_count("convolve", "the addend", *addend, y.count);
  }
  do_convolve(weights, x, y, stride, addend);
}

void Backend::layer_norm(const Norm& norm, const Rows& x, const Rows& y) {
  require_rows("layer_norm", "x", x);
  require_rows("layer_norm", "y", y);
  require_width("layer_norm", "x", x, norm.width());
  require_width("layer_norm", "y", y, norm.width());
  require_count("layer_norm", "y", y, x.count);
  do_layer_norm(norm, x, y);
}

void Backend::attend_encoder(const Rows& qkv, const Rows& out, int heads, int windows) {
  const char* const op = "attend_encoder";
  require_rows(op, "qkv", qkv);
  require_rows(op, "out", out);
  require_width(op, "qkv", qkv, 3 * out.width);
  require_count(op, "out", out, qkv.count);
  require_heads(op, heads, out.width);
  require_positive(op, "the number of windows", windows);
  if (qkv.count % static_cast<size_t>(windows) != 0)
    throw Error(ErrorCode::internal, "{}: {} rows cannot be split into {} windows", op, qkv.count, windows);
  if (qkv.count > 0) do_attend_encoder(qkv, out, heads, windows);
}

void Backend::store_cross(CrossCache& cache, int layer, int window, const Rows& kv) {
  const CacheShape& shape = cache.shape();
  require_index("store_cross", "layer", layer, shape.layers);
  require_index("store_cross", "window", window, shape.entries);
  require_rows("store_cross", "kv", kv);
  require_width("store_cross", "kv", kv, 2 * static_cast<size_t>(shape.width));
  require_count("store_cross", "kv", kv, static_cast<size_t>(shape.positions));
  do_store_cross(cache, layer, window, kv);
}

void Backend::project_cross(const Matrix& weights, const Rows& x, CrossCache& cache, int layer,
                            int first_window, const Rows& scratch) {
  const CacheShape& shape = cache.shape();
  const auto positions = static_cast<size_t>(shape.positions);
  require_index("project_cross", "layer", layer, shape.layers);
  require_rows("project_cross", "x", x);
  require_rows("project_cross", "scratch", scratch);
  require_width("project_cross", "x", x, weights.inputs());
  require_equal("project_cross", "the number of outputs", weights.outputs(),
                2 * static_cast<size_t>(shape.width));
  require_width("project_cross", "scratch", scratch, weights.outputs());
  require_count("project_cross", "scratch", scratch, x.count);
  require_equal("project_cross", "rows beyond whole windows", x.count % positions, 0);
  require_index("project_cross", "the first window", first_window,
                shape.entries - static_cast<int>(x.count / positions) + 1);
  do_project_cross(weights, x, cache, layer, first_window, scratch);
}

void Backend::do_project_cross(const Matrix& weights, const Rows& x, CrossCache& cache, int layer,
                               int first_window, const Rows& scratch) {
  do_linear(weights, x, scratch, {});
  const auto positions = static_cast<size_t>(cache.shape().positions);
  for (size_t i = 0; i < x.count / positions; ++i)
    do_store_cross(cache, layer, first_window + static_cast<int>(i), scratch.rows(i * positions, positions));
}

void Backend::attend_self(SelfCache& cache, int layer, const Rows& qkv, std::span<const DecodeRow> rows,
                          const Rows& out) {
  const CacheShape& shape = cache.shape();
  require_index("attend_self", "layer", layer, shape.layers);
  require_rows("attend_self", "qkv", qkv);
  require_rows("attend_self", "out", out);
  require_width("attend_self", "qkv", qkv, 3 * static_cast<size_t>(shape.width));
  require_width("attend_self", "out", out, static_cast<size_t>(shape.width));
  require_count("attend_self", "qkv", qkv, rows.size());
  require_count("attend_self", "out", out, rows.size());
  require_decode_rows("attend_self", shape, rows);
  do_attend_self(cache, layer, qkv, rows, out);
}

void Backend::attend_cross(const CrossCache& cache, int layer, const Rows& q, std::span<const DecodeRow> rows,
                           const Rows& out, const CrossWeightsRequest* weights) {
  const CacheShape& shape = cache.shape();
  require_index("attend_cross", "layer", layer, shape.layers);
  require_rows("attend_cross", "q", q);
  require_rows("attend_cross", "out", out);
  require_width("attend_cross", "q", q, static_cast<size_t>(shape.width));
  require_width("attend_cross", "out", out, static_cast<size_t>(shape.width));
  require_count("attend_cross", "q", q, rows.size());
  require_count("attend_cross", "out", out, rows.size());
  for (const DecodeRow& row : rows) require_index("attend_cross", "window", row.window, shape.entries);
  if (weights != nullptr) {
    if (weights->out == nullptr)
      throw Error(ErrorCode::internal, "attend_cross: the weights have nowhere to go");
    for (const int head : weights->heads) require_index("attend_cross", "head", head, shape.heads);
  }
  do_attend_cross(cache, layer, q, rows, out, weights);
}

void Backend::copy_slot(SelfCache& cache, int from, int to, int positions) {
  require_index("copy_slot", "source slot", from, cache.shape().entries);
  require_index("copy_slot", "target slot", to, cache.shape().entries);
  require_index("copy_slot", "the number of positions", positions, int64_t{cache.shape().positions} + 1);
  do_copy_slot(cache, from, to, positions);
}

void Backend::embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows,
                    const Rows& out) {
  require_rows("embed", "positions", positions);
  require_rows("embed", "out", out);
  require_width("embed", "positions", positions, table.inputs());
  require_width("embed", "out", out, table.inputs());
  require_count("embed", "out", out, rows.size());
  for (const DecodeRow& row : rows) {
    require_index("embed", "token", row.token, static_cast<int64_t>(table.outputs()));
    require_index("embed", "position", row.position, static_cast<int64_t>(positions.count));
  }
  do_embed(table, positions, rows, out);
}

std::unique_ptr<Recording> Backend::record(std::span<const DecodeRow> rows,
                                           const std::function<void()>& operations) {
  return do_record(rows, operations);
}

void Backend::replay(const Recording& recording, std::span<const DecodeRow> rows) {
  do_replay(recording, rows);
}

std::unique_ptr<Recording> Backend::do_record(std::span<const DecodeRow>,
                                              const std::function<void()>& operations) {
  operations();
  return nullptr;
}

void Backend::do_replay(const Recording&, std::span<const DecodeRow>) {
  throw Error(ErrorCode::internal, "replay: {} keeps no recordings", description());
}

std::vector<SampleResult> Backend::sample(const Rows& logits, std::span<const SampleRequest> requests) {
  require_rows("sample", "logits", logits);
  require_positive("sample", "the number of tokens", static_cast<int64_t>(logits.width));
  require_count("sample", "logits", logits, requests.size());
  for (const SampleRequest& request : requests) require_request(request, logits.width);
  return do_sample(logits, requests);
}

}  // namespace sotto
