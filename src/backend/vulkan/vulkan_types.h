#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backend/backend.h"
#include "backend/vulkan/stream.h"
#include "backend/vulkan/tiles.h"

namespace sotto::vk {

// Everything of one open device. What lives on it holds on to it.
class Context {
 public:
  explicit Context(const VulkanOptions& options)
      : device(options),
        allocator(device),
        pipelines(device, options.cache),
        stream(device, allocator, pipelines) {}

  Device device;
  Allocator allocator;
  Pipelines pipelines;
  Stream stream;
  std::mutex mutex;  // for all of it: what lives on the device may be let go on any thread
};

// Memory on the device with its one owner.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<Context> context, VkDeviceSize bytes, Place place = Place::device);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  VkDeviceSize bytes() const noexcept { return view_.bytes; }
  const View& view() const noexcept { return view_; }
  View from(VkDeviceSize offset) const noexcept;  // all behind this byte, a multiple of Allocator::kAlignment

 private:
  std::shared_ptr<Context> context_;
  View view_;
};

enum class Element : uint8_t { float32, float16 };
inline size_t element_bytes(Element element) {
  return element == Element::float32 ? 4 : 2;
}

class VulkanMemory final : public Memory {
 public:
  VulkanMemory(const std::shared_ptr<Context>& context, size_t elements, Element type)
      : Memory(elements), element(type), buffer(context, elements * element_bytes(type)) {}
  const Element element;
  const Buffer buffer;
};

// Rows as a kernel meets them: a buffer that begins on a border, and the first element behind that.
struct BoundRows {
  explicit BoundRows(const Rows& rows);
  View view;
  uint32_t offset, stride;
  Element element;
};

enum class WeightType : uint8_t { float32, float16, int8 };

// Weights row by row, in blocks of 8 inputs (16 for int8) that end with zeros: 32 bytes a block in float32,
// else 16.
class VulkanMatrix final : public Matrix {
 public:
  VulkanMatrix(const std::shared_ptr<Context>& context, size_t outputs, size_t inputs, WeightType type,
               MatrixUse use);

  size_t blocks() const noexcept { return blocks_; }
  size_t row_bytes() const noexcept { return row_bytes_; }
  // Outputs that one kernel can reach: a buffer's part that it sees has a largest size.
  size_t part_outputs() const noexcept { return part_outputs_; }
  View part(size_t first_output) const noexcept { return weights.from(first_output * row_bytes_); }

  const WeightType type;
  const MatrixUse use;
  const Buffer weights, bias_scale;  // the latter: two floats for each output

 private:
  size_t blocks_, row_bytes_, part_outputs_;
};

struct VulkanNorm final : Norm {
  VulkanNorm(const std::shared_ptr<Context>& context, size_t width)
      : Norm(width), scale_shift(context, width * 2 * sizeof(float)) {}
  const Buffer scale_shift;
};

// Layers x entries x {keys, values} x positions x width, each layer on a border.
struct CacheMemory {
  CacheMemory(const std::shared_ptr<Context>& context, const CacheShape& shape, Element type);
  View layer(int index) const noexcept { return buffer.from(static_cast<VkDeviceSize>(index) * layer_bytes); }
  const Element element;
  const VkDeviceSize layer_bytes;
  const Buffer buffer;
};

struct VulkanSelfCache final : SelfCache {
  VulkanSelfCache(const std::shared_ptr<Context>& context, const CacheShape& shape, Element type)
      : SelfCache(shape), memory(context, shape, type) {
    element_bytes_ = element_bytes(type);
  }
  const CacheMemory memory;
};

struct VulkanCrossCache final : CrossCache {
  VulkanCrossCache(const std::shared_ptr<Context>& context, const CacheShape& shape, Element type)
      : CrossCache(shape), memory(context, shape, type) {
    element_bytes_ = element_bytes(type);
  }
  const CacheMemory memory;
};

class VulkanBackend final : public Backend {
 public:
  VulkanBackend(const VulkanOptions& options);
  ~VulkanBackend() override;

  std::string description() const override;
  ComputeType compute_type() const override { return compute_type_; }
  Context& context() noexcept { return *context_; }
  const std::shared_ptr<Context>& shared_context() const noexcept { return context_; }
  const Tiles& tiles() const noexcept { return tiles_; }
  void set_tile(const MatrixTile& tile) noexcept { tiles_.many = tile; }

 private:
  // pack.cpp
  std::unique_ptr<Matrix> do_pack_matrix(std::span<const MatrixPart> parts, MatrixUse use) override;
  void send(const Buffer& to, VkDeviceSize offset, std::span<const std::byte> bytes);
  // layer_norm.cpp
  std::unique_ptr<Norm> do_pack_norm(const TensorView& scale, const TensorView& shift) override;
  void do_layer_norm(const Norm& norm, const Rows& x, const Rows& y) override;
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
  PackedRows pack_rows(const Product& product, size_t first, size_t rows);
  void multiply_rows(const Product& product, size_t first, size_t rows);
  View scratch(size_t bytes);
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
  struct CachedCall;
  void attend_cached(const CachedCall& call);
  void check_cache_shape(const CacheShape& shape) const;
  View send_rows(std::span<const DecodeRow> rows);
  // embed.cpp
  void do_embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows,
                const Rows& out) override;
  // sample.cpp
  std::vector<SampleResult> do_sample(const Rows& logits, std::span<const SampleRequest> requests) override;

  const Pipeline& kernel(const std::string& name, std::vector<uint32_t> constants) {
    return context_->pipelines.get(name, constants);
  }
  // For kernels in which each invocation has an element of its own.
  uint32_t element_local() const noexcept { return tiles_.row_local; }

  std::shared_ptr<Context> context_;
  ComputeType compute_type_;
  Element activation_;
  Tiles tiles_;
  Buffer scratch_;  // packed rows of a matrix product, a sampler's working copy; kept between calls
};

WeightType weight_type(ComputeType type);

inline uint32_t divide_up(size_t value, size_t unit) {
  return static_cast<uint32_t>((value + unit - 1) / unit);
}

}  // namespace sotto::vk
