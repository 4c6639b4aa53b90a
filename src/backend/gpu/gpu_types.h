#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/gpu/kernel_names.h"
#include "backend/gpu/queue.h"
#include "backend/gpu/tensor_cores.h"
#include "base/thread_pool.h"

namespace sotto::gpu {

class GpuMemory final : public Memory {
 public:
  GpuMemory(const std::shared_ptr<Context>& context, size_t elements, size_t element_bytes,
            Precision precision)
      : Memory(elements),
        element_bytes_(element_bytes),
        precision_(precision),
        buffer_(context, elements * element_bytes) {}

  bool is_full() const noexcept { return precision_ == Precision::full; }
  size_t element_bytes() const noexcept { return element_bytes_; }
  Address address(size_t offset) const noexcept { return buffer_.address(offset * element_bytes_); }

 private:
  size_t element_bytes_;
  Precision precision_;
  Buffer buffer_;
};

// Where the rows begin. An operation works on activations unless it says otherwise.
inline void* any_rows(const Rows& rows) {
  return reinterpret_cast<void*>(static_cast<const GpuMemory*>(rows.memory)->address(rows.offset));
}
inline bool is_full(const Rows& rows) {
  return static_cast<const GpuMemory*>(rows.memory)->is_full();
}
void* activations(const char* op, const Rows& rows);  // throws Error(internal) for full precision

class GpuMatrix final : public Matrix {
 public:
  GpuMatrix(const std::shared_ptr<Context>& context, size_t outputs, size_t inputs, Element element,
            bool is_int8, MatrixUse use, Layout layout);

  bool is_int8() const noexcept { return is_int8_; }
  MatrixUse use() const noexcept { return use_; }
  Layout layout() const noexcept { return layout_; }
  size_t padded_inputs() const noexcept { return padded_inputs_; }
  size_t padded_outputs() const noexcept { return padded_outputs_; }
  const Buffer& weights() const noexcept { return weights_; }
  float* scales() const noexcept { return scales_.pointer<float>(); }
  float* bias() const noexcept { return bias_.pointer<float>(); }
  const Buffer& bias_buffer() const noexcept { return bias_; }

 private:
  bool is_int8_;
  MatrixUse use_;
  Layout layout_;
  size_t padded_inputs_, padded_outputs_;
  Buffer weights_, scales_, bias_;
};

class GpuNorm final : public Norm {
 public:
  GpuNorm(const std::shared_ptr<Context>& context, size_t width)
      : Norm(width), values_(context, 2 * width * sizeof(float)) {}
  const Buffer& values() const noexcept { return values_; }
  float* scale() const noexcept { return values_.pointer<float>(); }
  float* shift() const noexcept { return values_.pointer<float>(width_ * sizeof(float)); }

 private:
  Buffer values_;
};

// Keys and values side by side: [layers][entries][positions][2 x width].
template <class Base>
class GpuCache final : public Base {
 public:
  GpuCache(const std::shared_ptr<Context>& context, const CacheShape& shape, size_t element_bytes)
      : Base(shape),
        entry_bytes_(static_cast<size_t>(shape.positions) * 2 * static_cast<size_t>(shape.width) *
                     element_bytes),
        layer_bytes_(static_cast<size_t>(shape.entries) * entry_bytes_),
        buffer_(context, static_cast<size_t>(shape.layers) * layer_bytes_) {
    this->element_bytes_ = element_bytes;
  }
  void* layer(int index) const noexcept {
    return buffer_.template pointer<>(static_cast<size_t>(index) * layer_bytes_);
  }
  void* entry(int layer_index, int index) const noexcept {
    return buffer_.template pointer<>(static_cast<size_t>(layer_index) * layer_bytes_ +
                                      static_cast<size_t>(index) * entry_bytes_);
  }

 private:
  size_t entry_bytes_, layer_bytes_;
  Buffer buffer_;
};
using GpuSelfCache = GpuCache<SelfCache>;
using GpuCrossCache = GpuCache<CrossCache>;

// Working memory that grows. What was recorded goes on using the piece that it was recorded with.
class Scratch {
 public:
  // At least this many bytes; a fresh piece is cleared first where asked.
  const Buffer& reserve(Queue& queue, size_t bytes, bool cleared = false);
  const std::shared_ptr<Buffer>& piece() const noexcept { return piece_; }

 private:
  std::shared_ptr<Buffer> piece_;
};

class GpuRecording final : public Recording {
 public:
  GpuRecording(const std::shared_ptr<Context>& context, size_t row_bytes) : host_rows(context, row_bytes) {}

  PinnedBuffer host_rows;                       // that its first step fetches
  std::vector<std::shared_ptr<Buffer>> in_use;  // the memory of the backend that its launches use
  std::unique_ptr<GraphOwner> graph;
  mutable uint64_t waits_before = 0;  // the queue's, when it was launched last
};

class GpuBackend final : public Backend {
 public:
  GpuBackend(std::shared_ptr<Context> context, ComputeType compute_type, Path path);

  std::string description() const override;
  ComputeType compute_type() const override { return compute_type_; }
  int windows_to_encode_together() const override;
  size_t feed_forward_rows() const override { return size_t{1} << 40; }  // all of them
  std::optional<Room> room() const override;
  bool computes_mel() const override { return true; }
  void use_fast_attention(bool fast) override { fast_attention_ = fast; }

 private:
  // pack.cpp
  std::unique_ptr<Matrix> do_pack_matrix(std::span<const MatrixPart> parts, MatrixUse use) override;
  std::unique_ptr<Norm> do_pack_norm(const TensorView& scale, const TensorView& shift) override;
  Layout layout_for(size_t inputs, MatrixUse use) const;
  // memory.cpp
  std::unique_ptr<Memory> do_allocate(size_t elements, Precision precision) override;
  std::unique_ptr<SelfCache> do_make_self_cache(const CacheShape& shape) override;
  std::unique_ptr<CrossCache> do_make_cross_cache(const CacheShape& shape) override;
  void do_write(const Rows& to, std::span<const float> from) override;
  void send_values(std::span<const float> values);
  void do_read(const Rows& from, std::span<float> to) override;
  void do_fill_zero(const Rows& rows) override;
  template <class Use>  // use(block, where it begins among dense values)
  void for_staged_blocks(const Rows& rows, const Use& use);
  // linear.cpp
  void do_linear(const Matrix& weights, const Rows& x, const Rows& y, const Epilogue& epilogue) override;
  void do_convolve(const Matrix& weights, const Rows& x, const Rows& y, int stride,
                   const Rows* addend) override;
  void do_layer_norm(const Norm& norm, const Rows& x, const Rows& y) override;
  void multiply(const GpuMatrix& matrix, LinearArgs args);
  const void* weights_in_element(const GpuMatrix& matrix);
  CopyRowsArgs to_dense_rows(const void* rows, Stride stride, int count, int width);
  // attention.cpp
  void do_attend_encoder(const Rows& qkv, const Rows& out, int heads, int windows) override;
  void do_store_cross(CrossCache& cache, int layer, int window, const Rows& kv) override;
  void do_project_cross(const Matrix& weights, const Rows& x, CrossCache& cache, int layer, int first_window,
                        const Rows& scratch) override;
  void do_attend_self(SelfCache& cache, int layer, const Rows& qkv, std::span<const DecodeRow> rows,
                      const Rows& out) override;
  void do_attend_cross(const CrossCache& cache, int layer, const Rows& q, std::span<const DecodeRow> rows,
                       const Rows& out, const CrossWeightsRequest* weights) override;
  void do_copy_slot(SelfCache& cache, int from, int to, int positions) override;
  void read_cross_weights(const GpuCrossCache& cache, int layer, const Rows& q, const DeviceRow* rows,
                          const CrossWeightsRequest& request);
  // mel.cpp
  std::unique_ptr<MelFrontEnd> do_make_mel_front_end(const MelTables& tables) override;
  void do_mel(const MelFrontEnd& front_end, std::span<const float> samples, size_t audible,
              const Rows& out) override;
  // embed.cpp
  void do_embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows,
                const Rows& out) override;
  // sample.cpp
  std::vector<SampleResult> do_sample(const Rows& logits, std::span<const SampleRequest> requests) override;
  // record.cpp
  std::unique_ptr<Recording> do_record(std::span<const DecodeRow> rows,
                                       const std::function<void()>& operations) override;
  void do_replay(const Recording& recording, std::span<const DecodeRow> rows) override;
  // The rows of the call, on the device; uploaded when they are others than the last ones.
  const DeviceRow* on_device(std::span<const DecodeRow> rows);

  std::shared_ptr<Context> context_;
  const ComputeType compute_type_;
  const Element element_;
  const bool int8_;  // weights
  const Path path_;
  Queue queue_;
  Buffer staging_;   // dense float32 on its way to or from another form
  ThreadPool pool_;  // reads weights

  Scratch rows_, cross_partial_, cross_done_, cross_weights_, dequantized_, dense_rows_, sample_,
      sample_done_, mel_;
  std::vector<DecodeRow> uploaded_;        // what rows_ holds
  std::vector<std::byte> questions_;       // what the beginning of sample_ holds
  std::unique_ptr<PinnedBuffer> answers_;  // where the sampler writes to

  struct Kernels {
    Kernels(Context& context, Element element);
    Kernel pack, pack_int8, dequantize, write, read, layer_norm, layer_norm_few, embed, embed_int8;
    Kernel linear_many, linear_few, linear_few_int8;
    Kernel attend_encoder, attend_self, attend_cross, cross_weights, copy_rows, copy_slot, sample, mel_frames,
        mel_scale;
  };
  const Kernels kernels_;
  std::optional<TensorCores> tensor_cores_;
  bool fast_attention_ = true;
};

}  // namespace sotto::gpu
