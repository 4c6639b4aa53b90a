#pragma once

// Where a weight lies in a matrix of Layout::fragments, in elements from the beginning. A block of 16 outputs
// x 32 inputs feeds two matrix instructions of 16 x 16. Which inputs an instruction takes does not matter as
// long as both operands agree, so lane l takes inputs l % 4 * 8 .. + 7: eight neighbours, which it can load
// from a row of activations at once. Its outputs are l / 4 and l / 4 + 8. 16-bit types: [2 instructions][32
// lanes][8 values]; int8: [32 lanes][2 instructions][8 values]; always 16 bytes a lane.
namespace sotto::gpu {

inline constexpr int kFragmentOutputs = 16, kFragmentInputs = 32;

template <bool IsInt8>
__device__ inline long long fragment_index(int output, int input, int inputs) {
  const int row = output % kFragmentOutputs, column = input % kFragmentInputs;
  const int lane = row % 8 * 4 + column / 8;
  const int instruction = column % 8 / 4, value = column % 4 / 2 * 4 + row / 8 * 2 + column % 2;
  const long long block = static_cast<long long>(output / kFragmentOutputs) * (inputs / kFragmentInputs) +
                          input / kFragmentInputs;
  return block * (kFragmentOutputs * kFragmentInputs) +
         (IsInt8 ? lane * 16 + instruction * 8 + value : instruction * 256 + lane * 8 + value);
}

}  // namespace sotto::gpu
