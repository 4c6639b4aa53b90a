#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/tensor_view.h"

// What every backend does. The network (src/whisper) is written once in these operations; a backend is free
// to fuse, reorder and choose layouts inside them. Two promises hold for all of them:
//   - A row's numbers do not depend on the other rows of the call, nor on the number of threads.
//   - Nothing here is tied to a thread: any thread may call, one call at a time per Backend.
namespace sotto {

enum class ComputeType { automatic, float32, float16, bfloat16, int8, int8_float32, int8_float16 };

std::string_view compute_type_name(ComputeType type) noexcept;  // CTranslate2's names; "auto"
std::optional<ComputeType> compute_type_from_name(std::string_view name) noexcept;

// Immutable weights of one linear layer, packed for the device: outputs x inputs, with a bias per output.
class Matrix {
 public:
  virtual ~Matrix() = default;
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  size_t outputs() const noexcept { return outputs_; }
  size_t inputs() const noexcept { return inputs_; }
  size_t bytes() const noexcept { return bytes_; }  // what one pass over the weights reads

 protected:
  Matrix(size_t outputs, size_t inputs) : outputs_(outputs), inputs_(inputs) {}
  size_t outputs_, inputs_, bytes_ = 0;
};

// How many rows a matrix will meet: the encoder's see whole windows, the decoder's a few rows a step. A
// backend may choose kernels and layouts by this, never by the number of rows of a call: that would let a
// row's numbers depend on its neighbours.
enum class MatrixUse { few_rows, many_rows };

// Immutable scale and shift of a layer norm.
class Norm {
 public:
  virtual ~Norm() = default;
  Norm(const Norm&) = delete;
  Norm& operator=(const Norm&) = delete;
  size_t width() const noexcept { return width_; }

 protected:
  explicit Norm(size_t width) : width_(width) {}
  size_t width_;
};

// What working memory holds: the activation type of the backend's compute type, or float32 whatever that type
// is (logits, whose differences decide).
enum class Precision { activation, full };

// Working memory on the device, in elements of its precision.
class Memory {
 public:
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  size_t elements() const noexcept { return elements_; }

 protected:
  explicit Memory(size_t elements) : elements_(elements) {}
  size_t elements_;
};

// Some rows of activations inside a Memory. Passed by value; owns nothing.
struct Rows {
  Memory* memory = nullptr;
  size_t offset = 0;  // of the first element
  size_t count = 0;
  size_t width = 0;
  size_t stride = 0;  // elements from one row to the next

  Rows rows(size_t first, size_t n) const { return {memory, offset + first * stride, n, width, stride}; }
  Rows columns(size_t first, size_t n) const { return {memory, offset + first, count, n, stride}; }
};

struct CacheShape {
  int layers = 0;
  int entries = 0;  // slots of a SelfCache, windows of a CrossCache
  int positions = 0;
  int heads = 0;
  int width = 0;
};

// Keys and values of the decoder's own past: layers x slots x positions. A slot is one sequence.
class SelfCache {
 public:
  virtual ~SelfCache() = default;
  SelfCache(const SelfCache&) = delete;
  SelfCache& operator=(const SelfCache&) = delete;
  const CacheShape& shape() const noexcept { return shape_; }
  size_t position_bytes() const noexcept {  // keys and values of one position in all layers
    return 2 * static_cast<size_t>(shape_.layers) * static_cast<size_t>(shape_.width) * element_bytes_;
  }

 protected:
  explicit SelfCache(const CacheShape& shape) : shape_(shape) {}
  const CacheShape shape_;
  size_t element_bytes_ = sizeof(float);
};

// Keys and values of encoded audio: layers x windows x audio positions. Many slots may read one window.
class CrossCache {
 public:
  virtual ~CrossCache() = default;
  CrossCache(const CrossCache&) = delete;
  CrossCache& operator=(const CrossCache&) = delete;
  const CacheShape& shape() const noexcept { return shape_; }
  size_t window_bytes() const noexcept {  // keys and values of one window in all layers
    return 2 * static_cast<size_t>(shape_.layers) * static_cast<size_t>(shape_.positions) *
           static_cast<size_t>(shape_.width) * element_bytes_;
  }

 protected:
  explicit CrossCache(const CacheShape& shape) : shape_(shape) {}
  const CacheShape shape_;
  size_t element_bytes_ = sizeof(float);
};

// One row of a decoder call: a token at a position of a slot that listens to a window. A prompt is several
// rows of the same slot with consecutive positions; they must be in order and adjacent.
struct DecodeRow {
  int32_t token = 0;
  int32_t position = 0;
  int32_t slot = 0;
  int32_t window = 0;
};

// Tokens [first, last).
struct TokenRange {
  int32_t first = 0;
  int32_t last = 0;
};

// What to choose from one row of logits. Only the answer leaves the device.
struct SampleRequest {
  std::span<const int32_t> suppressed;  // single tokens, for example the model's suppress list
  std::span<const TokenRange> banned;   // whole ranges, for example all text or all timestamps
  int32_t timestamp_begin = -1;  // >= 0: when the timestamps together are likelier than any single text
                                 // token, text is banned too (the reference's last timestamp rule)
  std::span<const int32_t>
      penalised;  // tokens made less likely: logit / penalty where positive, else * penalty
  float penalty = 1;
  int candidates = 1;     // how many of the best tokens to return
  float temperature = 0;  // > 0: return one token drawn from softmax(logits / temperature) instead,
  double uniform = 0;     // the one whose share of the cumulated probability (by id) holds this number
  int32_t probe = -1;     // >= 0: also return this token's probability in the unmasked row
};

struct Candidate {
  int32_t token = 0;
  float log_probability = 0;  // of the masked, renormalised row
};

struct SampleResult {
  std::vector<Candidate> candidates;  // best first; equal scores: lower token first
  float probe_probability = 0;
};

// Where one call of attend_cross leaves the attention weights that word timing needs.
struct CrossWeightsRequest {
  std::span<const int> heads;  // of this layer
  std::vector<float>* out;     // rows x heads x audio positions, appended
};

// What the log-mel front end is made of: 400-point transforms every 160 samples.
inline constexpr size_t kMelTransformPoints = 400, kMelSpectrumPoints = 201, kMelStepSamples = 160;
struct MelTables {
  std::vector<float> window;   // kMelTransformPoints
  std::vector<float> filters;  // bins x kMelSpectrumPoints
  size_t bins = 0;
};

// The front end on a device.
class MelFrontEnd {
 public:
  virtual ~MelFrontEnd() = default;
  MelFrontEnd(const MelFrontEnd&) = delete;
  MelFrontEnd& operator=(const MelFrontEnd&) = delete;
  size_t bins() const noexcept { return bins_; }

 protected:
  explicit MelFrontEnd(size_t bins) : bins_(bins) {}
  size_t bins_;
};

// Operations that a device keeps so that it can run them again without being told each one.
class Recording {
 public:
  virtual ~Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 protected:
  Recording() = default;
};

struct Epilogue {
  bool gelu = false;               // y = gelu(x W + b), the exact form with erf
  const Rows* residual = nullptr;  // y = residual + (x W + b); may be y itself
};

class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual std::string description() const = 0;                  // for people: "CPU, 2 threads, AVX-512 VNNI"
  virtual ComputeType compute_type() const = 0;                 // never automatic
  virtual int windows_to_encode_together() const { return 1; }  // how many fill the device
  // Bytes that it holds on the device. Here the weights alone; a backend with memory of its own counts all of
  // it.
  virtual size_t memory_used() const { return weight_bytes_; }
  // Rows that go through the encoder's feed-forward layer together: its hidden state is four times as wide as
  // all else, and would make up most of the working memory.
  virtual size_t feed_forward_rows() const { return 768; }

  // Attention inside a window by the fastest kernels of the device (on at first), or by the plain ones.
  virtual void use_fast_attention(bool) {}

  // What is left of a device with memory of its own, and what things take there.
  struct Room {
    size_t free = 0;                           // bytes
    size_t weight_bytes = 0, value_bytes = 0;  // of one weight, of one value of an activation or a cache
  };
  virtual std::optional<Room> room() const { return std::nullopt; }  // nothing: the system's memory

  // --- weights; the views may be forgotten afterwards ---
  // Matrices with the same number of inputs are stacked: their outputs follow each other (query, key, value).
  // A missing bias (nullptr) is zero. A convolution's weight [out, in, taps] is packed with its inputs in the
  // order (tap, in).
  struct MatrixPart {
    const TensorView* weight;
    const TensorView* bias;
  };
  std::unique_ptr<Matrix> pack_matrix(std::span<const MatrixPart> parts, MatrixUse use = MatrixUse::few_rows);
  std::unique_ptr<Norm> pack_norm(const TensorView& scale, const TensorView& shift);

  // --- memory ---
  std::unique_ptr<Memory> allocate(size_t elements, Precision precision = Precision::activation);
  std::unique_ptr<SelfCache> make_self_cache(const CacheShape& shape);
  std::unique_ptr<CrossCache> make_cross_cache(const CacheShape& shape);
  void write(const Rows& to, std::span<const float> from);  // count x width values, dense
  void read(const Rows& from, std::span<float> to);
  void fill_zero(const Rows& rows);

  // --- operations ---
  // The log-mel spectrogram of one window, where the device computes it: frame f is made of the samples from
  // f * kMelStepSamples on, so there are kMelTransformPoints - kMelStepSamples more of them than the frames
  // have steps. Frames from `audible` on are silence. out: rows of bins values.
  virtual bool computes_mel() const { return false; }
  std::unique_ptr<MelFrontEnd> make_mel_front_end(const MelTables& tables);
  void mel(const MelFrontEnd& front_end, std::span<const float> samples, size_t audible, const Rows& out);

  void linear(const Matrix& weights, const Rows& x, const Rows& y, const Epilogue& epilogue = {});

  // 1-D convolution with 3 taps and padding 1, then GELU, over one window. x holds one zero row, the frames,
  // one zero row. y row t = gelu(W . x[t * stride .. t * stride + 2] + b), plus addend row t where one is
  // given.
  void convolve(const Matrix& weights, const Rows& x, const Rows& y, int stride, const Rows* addend);

  void layer_norm(const Norm& norm, const Rows& x, const Rows& y);  // epsilon 1e-5; y may be x

  // Full attention inside each window. qkv rows: query, key, value side by side (3 x width); windows follow
  // each other.
  void attend_encoder(const Rows& qkv, const Rows& out, int heads, int windows);

  // Stores one window's keys and values (rows of 2 x width: key, value) for one layer.
  void store_cross(CrossCache& cache, int layer, int window, const Rows& kv);

  // linear and store_cross for neighbouring windows, first_window and on. `scratch` (rows of 2 x width) holds
  // anything afterwards; a backend whose cache is made of such rows does without.
  void project_cross(const Matrix& weights, const Rows& x, CrossCache& cache, int layer, int first_window,
                     const Rows& scratch);

  // Appends each row's key and value at its slot and position, then attends to positions 0..position of that
  // slot.
  void attend_self(SelfCache& cache, int layer, const Rows& qkv, std::span<const DecodeRow> rows,
                   const Rows& out);
  void attend_cross(const CrossCache& cache, int layer, const Rows& q, std::span<const DecodeRow> rows,
                    const Rows& out, const CrossWeightsRequest* weights = nullptr);

  // Copies the first `positions` positions of all layers from one slot to another (beam search, shared
  // prompts).
  void copy_slot(SelfCache& cache, int from, int to, int positions);

  // out row i = table[token] + positions[position].
  void embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows, const Rows& out);

  // Runs operations that take no rows but these, or others of the same number, and keeps them where the
  // device can: then replay() runs them again for other tokens, positions, slots and windows. Nothing is kept
  // (nullptr) where it cannot. The memory, caches and weights in use must outlive the recording.
  std::unique_ptr<Recording> record(std::span<const DecodeRow> rows, const std::function<void()>& operations);
  void replay(const Recording& recording, std::span<const DecodeRow> rows);

  // One result per row of logits, which have full precision.
  std::vector<SampleResult> sample(const Rows& logits, std::span<const SampleRequest> requests);

 protected:
  Backend() = default;

 private:
  // The public calls check shapes once, for all backends, and then call these.
  virtual std::unique_ptr<Matrix> do_pack_matrix(std::span<const MatrixPart> parts, MatrixUse use) = 0;
  virtual std::unique_ptr<Norm> do_pack_norm(const TensorView& scale, const TensorView& shift) = 0;
  virtual std::unique_ptr<Memory> do_allocate(size_t elements, Precision precision) = 0;
  virtual std::unique_ptr<SelfCache> do_make_self_cache(const CacheShape& shape) = 0;
  virtual std::unique_ptr<CrossCache> do_make_cross_cache(const CacheShape& shape) = 0;
  virtual void do_write(const Rows& to, std::span<const float> from) = 0;
  virtual void do_read(const Rows& from, std::span<float> to) = 0;
  virtual void do_fill_zero(const Rows& rows) = 0;
  virtual std::unique_ptr<MelFrontEnd> do_make_mel_front_end(const MelTables& tables);
  virtual void do_mel(const MelFrontEnd& front_end, std::span<const float> samples, size_t audible,
                      const Rows& out);
  virtual void do_linear(const Matrix& weights, const Rows& x, const Rows& y, const Epilogue& epilogue) = 0;
  virtual void do_convolve(const Matrix& weights, const Rows& x, const Rows& y, int stride,
                           const Rows* addend) = 0;
  virtual void do_layer_norm(const Norm& norm, const Rows& x, const Rows& y) = 0;
  virtual void do_attend_encoder(const Rows& qkv, const Rows& out, int heads, int windows) = 0;
  virtual void do_store_cross(CrossCache& cache, int layer, int window, const Rows& kv) = 0;
  virtual void do_project_cross(const Matrix& weights, const Rows& x, CrossCache& cache, int layer,
                                int first_window, const Rows& scratch);
  virtual void do_attend_self(SelfCache& cache, int layer, const Rows& qkv, std::span<const DecodeRow> rows,
                              const Rows& out) = 0;
  virtual void do_attend_cross(const CrossCache& cache, int layer, const Rows& q,
                               std::span<const DecodeRow> rows, const Rows& out,
                               const CrossWeightsRequest* weights) = 0;
  virtual void do_copy_slot(SelfCache& cache, int from, int to, int positions) = 0;
  virtual void do_embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows,
                        const Rows& out) = 0;
  virtual std::unique_ptr<Recording> do_record(std::span<const DecodeRow> rows,
                                               const std::function<void()>& operations);
  virtual void do_replay(const Recording& recording, std::span<const DecodeRow> rows);
  virtual std::vector<SampleResult> do_sample(const Rows& logits,
                                              std::span<const SampleRequest> requests) = 0;

  size_t weight_bytes_ = 0;  // of all matrices packed so far
};

}  // namespace sotto
