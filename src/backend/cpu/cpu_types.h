#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/cpu/kernels.h"
#include "base/thread_pool.h"

namespace sotto::cpu {

// Zeroed memory on a 64-byte border; large ones in 2 MiB pages where the system agrees.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  enum class Pages { large, ordinary };  // ordinary: for memory of which often only a part is used
  explicit AlignedBytes(size_t bytes,
                        Pages pages = Pages::large);  // throws Error(out_of_memory) with the size
  ~AlignedBytes();
  AlignedBytes(AlignedBytes&& other) noexcept;
  AlignedBytes& operator=(AlignedBytes&& other) noexcept;
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;

  size_t size() const noexcept { return size_; }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

// Activations are float32 on the CPU, whatever the weights are.
class CpuMemory final : public Memory {
 public:
  explicit CpuMemory(size_t elements) : Memory(elements), bytes_(elements * sizeof(float)) {}
  float* data() const noexcept { return bytes_.as<float>(); }

 private:
  AlignedBytes bytes_;
};

inline float* row_data(const Rows& rows, size_t row = 0) {
  return static_cast<const CpuMemory*>(rows.memory)->data() + rows.offset + row * rows.stride;
}

// Working memory for the tasks of a parallel loop: one piece per thread of the pool, borrowed while a task
// runs. Kept between calls, so that a decoding step allocates nothing.
class TaskScratch {
 public:
  explicit TaskScratch(const ThreadPool& pool);
  void reserve(size_t bytes_each);  // before the loop

  class Lease {
   public:
    explicit Lease(TaskScratch& scratch) noexcept;  // from inside a task of the pool's loop
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    float* data() const noexcept;

   private:
    TaskScratch& scratch_;
    size_t piece_;
  };

 private:
  std::vector<std::atomic<bool>> busy_;
  size_t bytes_each_ = 0;
  AlignedBytes bytes_;
};

// Weights in panels, as matrix_kernels.h describes them.
class CpuMatrix final : public Matrix {
 public:
  CpuMatrix(size_t outputs, size_t inputs, WeightType type, size_t panel_outputs);

  WeightType type() const noexcept { return type_; }
  size_t panel_count() const noexcept { return panel_count_; }
  size_t panel_bytes() const noexcept { return panel_bytes_; }
  std::byte* panel(size_t index) const noexcept { return panels_.as<std::byte>() + index * panel_bytes_; }
  // Per output, padded to whole panels; the last two belong to int8 weights.
  float* bias() const noexcept { return bias_.as<float>(); }
  float* scales() const noexcept { return scales_.as<float>(); }
  int32_t* sums() const noexcept { return sums_.as<int32_t>(); }

 private:
  WeightType type_;
  size_t panel_count_, panel_bytes_;
  AlignedBytes panels_, bias_, scales_, sums_;
};

class CpuBackend final : public Backend {
 public:
  CpuBackend(const KernelTable& kernels, ComputeType compute_type, int threads);

  std::string description() const override;
  ComputeType compute_type() const override { return compute_type_; }

 private:
  // pack.cpp
  std::unique_ptr<Matrix> do_pack_matrix(std::span<const MatrixPart> parts, MatrixUse use) override;
  std::unique_ptr<Norm> do_pack_norm(const TensorView& scale,
                                     const TensorView& shift) override;  // layer_norm.cpp
  // memory.cpp
  std::unique_ptr<Memory> do_allocate(size_t elements, Precision precision) override;
  void do_write(const Rows& to, std::span<const float> from) override;
  void do_read(const Rows& from, std::span<float> to) override;
  void do_fill_zero(const Rows& rows) override;
  // linear.cpp
  void do_linear(const Matrix& weights, const Rows& x, const Rows& y, const Epilogue& epilogue) override;
  void do_convolve(const Matrix& weights, const Rows& x, const Rows& y, int stride,
                   const Rows* addend) override;
  struct Product;
  struct PackedRows;
  void multiply(const Product& product);
  PackedRows pack_rows(const Product& product, size_t first_row, size_t rows);
  void multiply_rows(const Product& product, size_t first_row, const PackedRows& packed);
  // embed.cpp
  void do_embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows,
                const Rows& out) override;
  // layer_norm.cpp
  void do_layer_norm(const Norm& norm, const Rows& x, const Rows& y) override;
  // attention_encoder.cpp
  void do_attend_encoder(const Rows& qkv, const Rows& out, int heads, int windows) override;
  // attention_cached.cpp
  std::unique_ptr<SelfCache> do_make_self_cache(const CacheShape& shape) override;
  std::unique_ptr<CrossCache> do_make_cross_cache(const CacheShape& shape) override;
  void do_store_cross(CrossCache& cache, int layer, int window, const Rows& kv) override;
  void do_attend_self(SelfCache& cache, int layer, const Rows& qkv, std::span<const DecodeRow> rows,
                      const Rows& out) override;
  void do_attend_cross(const CrossCache& cache, int layer, const Rows& q, std::span<const DecodeRow> rows,
                       const Rows& out, const CrossWeightsRequest* weights) override;
  void do_copy_slot(SelfCache& cache, int from, int to, int positions) override;
  const CachedAttention& cached_kernel() const noexcept;
  // sample.cpp
  std::vector<SampleResult> do_sample(const Rows& logits, std::span<const SampleRequest> requests) override;

  const KernelTable& kernels_;
  const ComputeType compute_type_;
  ThreadPool pool_;
  AlignedBytes packed_rows_;  // the activations of a matrix product; kept between calls
  TaskScratch task_scratch_{pool_};
  AlignedBytes packed_heads_;  // the encoder's keys and values of one window and layer; kept between calls
};

}  // namespace sotto::cpu
