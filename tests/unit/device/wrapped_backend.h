#pragma once

#include <memory>
#include <utility>

#include "backend/backend.h"
#include "base/error.h"

namespace sotto::test {

// The CPU under another name, right or, with a slip, wrong: after each linear layer all results are
// multiplied by it.
class WrappedBackend final : public Backend {
 public:
  explicit WrappedBackend(std::unique_ptr<Backend> inner, float slip = 1)
      : inner_(std::move(inner)), slip_(slip) {}

  std::string description() const override { return "a wrapped " + inner_->description(); }
  ComputeType compute_type() const override { return inner_->compute_type(); }
  std::optional<Room> room() const override { return limit; }

  std::optional<Room> limit;  // of a device with memory of its own

 private:
  std::unique_ptr<Matrix> do_pack_matrix(std::span<const MatrixPart> parts, MatrixUse use) override {
    return inner_->pack_matrix(parts, use);
  }
  std::unique_ptr<Norm> do_pack_norm(const TensorView& scale, const TensorView& shift) override {
    return inner_->pack_norm(scale, shift);
  }
  std::unique_ptr<Memory> do_allocate(size_t elements, Precision precision) override {
    return inner_->allocate(elements, precision);
  }
  std::unique_ptr<SelfCache> do_make_self_cache(const CacheShape& shape) override {
    return inner_->make_self_cache(shape);
  }
  std::unique_ptr<CrossCache> do_make_cross_cache(const CacheShape& shape) override {
    return inner_->make_cross_cache(shape);
  }
  void do_write(const Rows& to, std::span<const float> from) override { inner_->write(to, from); }
  void do_read(const Rows& from, std::span<float> to) override { inner_->read(from, to); }
  void do_fill_zero(const Rows& rows) override { inner_->fill_zero(rows); }
  void do_linear(const Matrix& weights, const Rows& x, const Rows& y, const Epilogue& epilogue) override {
    inner_->linear(weights, x, y, epilogue);
    if (slip_ == 1) return;
    std::vector<float> values(y.count * y.width);
    inner_->read(y, values);
    for (float& value : values) value *= slip_;
    inner_->write(y, values);
  }
  void do_convolve(const Matrix& weights, const Rows& x, const Rows& y, int stride,
                   const Rows* addend) override {
    inner_->convolve(weights, x, y, stride, addend);
  }
  void do_layer_norm(const Norm& norm, const Rows& x, const Rows& y) override {
    inner_->layer_norm(norm, x, y);
  }
  void do_attend_encoder(const Rows& qkv, const Rows& out, int heads, int windows) override {
    inner_->attend_encoder(qkv, out, heads, windows);
  }
  void do_store_cross(CrossCache& cache, int layer, int window, const Rows& kv) override {
    inner_->store_cross(cache, layer, window, kv);
  }
  void do_attend_self(SelfCache& cache, int layer, const Rows& qkv, std::span<const DecodeRow> rows,
                      const Rows& out) override {
    inner_->attend_self(cache, layer, qkv, rows, out);
  }
  void do_attend_cross(const CrossCache& cache, int layer, const Rows& q, std::span<const DecodeRow> rows,
                       const Rows& out, const CrossWeightsRequest* weights) override {
    inner_->attend_cross(cache, layer, q, rows, out, weights);
  }
  void do_copy_slot(SelfCache& cache, int from, int to, int positions) override {
    inner_->copy_slot(cache, from, to, positions);
  }
  void do_embed(const Matrix& table, const Rows& positions, std::span<const DecodeRow> rows,
                const Rows& out) override {
    inner_->embed(table, positions, rows, out);
  }
  std::vector<SampleResult> do_sample(const Rows& logits, std::span<const SampleRequest> requests) override {
    return inner_->sample(logits, requests);
  }

  std::unique_ptr<Backend> inner_;
  float slip_;
};

}  // namespace sotto::test
