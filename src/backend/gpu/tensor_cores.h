#pragma once

#include <vector>

#include "backend/gpu/kernel_names.h"
#include "backend/gpu/queue.h"

namespace sotto::gpu {

// The kernels that use tensor cores, for activations of one 16-bit type. They want 16-byte alignment; where a
// call does not suit them they say so, and the plain kernels serve it.
class TensorCores {
 public:
  TensorCores(Context& context, Path path, Element element);  // mma or wgmma

  // Whether a matrix for few rows may lie in fragments.
  static bool takes_fragments(size_t inputs) { return inputs % 32 == 0; }

  bool linear_many(Queue& queue, const LinearArgs& args) const;
  bool attend_encoder(Queue& queue, const EncoderAttentionArgs& args) const;

  // Weights in fragments, rows of x aligned.
  static bool is_aligned_for_few(const LinearArgs& args);
  void linear_few(Queue& queue, const LinearArgs& args) const;

 private:
  struct FewShape {
    int warps, tiles, row_tiles;
  };
  FewShape few_shape(const LinearArgs& args) const;
  bool linear_many_on_hopper(Queue& queue, const LinearArgs& args) const;

  int multiprocessors_;
  size_t shared_limit_;  // of a block
  Element element_;
  Kernel linear_many_, attend_encoder_, hopper_narrow_, hopper_wide_, hopper_attend_;
  struct Few {
    FewShape shape;
    Kernel kernel, int8_kernel;
  };
  std::vector<Few> few_;
};

// The names of the kernels for few rows end in their shape.
std::vector<std::string> few_kernel_names();

}  // namespace sotto::gpu
