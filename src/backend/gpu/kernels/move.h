#pragma once

#include "backend/gpu/kernels/arguments.h"
#include "backend/gpu/kernels/fragments.h"
#include "backend/gpu/kernels/launch_shapes.h"
#include "backend/gpu/kernels/pieces.h"
#include "backend/gpu/kernels/reduce.h"

// Packing weights, looking up embeddings, and copies: one block per row.
namespace sotto::gpu {

// Where a weight lies; see Layout.
template <class W>
__device__ __forceinline__ long long weight_place(Layout layout, int output, int input, int padded_inputs) {
  return layout == Layout::rows ? static_cast<long long>(output) * padded_inputs + input
                                : fragment_index<sizeof(W) == 1>(output, input, padded_inputs);
}

template <class T>
__device__ __forceinline__ void pack(const PackArgs& args) {
  const float* source = args.source + static_cast<long long>(block_id_x()) * args.inputs;
  for (int i = thread_id(); i < args.padded_inputs; i += static_cast<int>(kRowThreads))
    store(static_cast<T*>(args.target) +
              weight_place<T>(args.layout, args.first_row + block_id_x(), i, args.padded_inputs),
          i < args.inputs ? source[i] : 0.0F);
}

__device__ __forceinline__ void pack_int8(const PackArgs& args) {
  const int output = args.first_row + block_id_x();
  const float* source = args.source + static_cast<long long>(block_id_x()) * args.inputs;
  float largest = 0;
  for (int i = thread_id(); i < args.inputs; i += static_cast<int>(kRowThreads))
    largest = larger(largest, __builtin_fabsf(source[i]));
  largest = block_max<kRowThreads>(largest);
  const float factor = largest > 0 ? 127.0F / largest : 0.0F;
  if (thread_id() == 0) args.scales[output] = largest / 127.0F;
  for (int i = thread_id(); i < args.padded_inputs; i += static_cast<int>(kRowThreads)) {
    const float value = i < args.inputs ? __builtin_rintf(source[i] * factor) : 0.0F;
    static_cast<signed char*>(
        args.target)[weight_place<signed char>(args.layout, output, i, args.padded_inputs)] =
        static_cast<signed char>(value);
  }
}

template <class T>
__device__ __forceinline__ void dequantize(const DequantizeArgs& args) {
  const int output = block_id_x();
  const signed char* source = args.source + static_cast<long long>(output) * args.padded_inputs;
  T* target = static_cast<T*>(args.target) + static_cast<long long>(output) * args.padded_inputs;
  const float scale = args.scales[output];
  for (int at = thread_id() * kPiece; at < args.padded_inputs; at += static_cast<int>(kRowThreads) * kPiece) {
    float values[kPiece];
    Piece<signed char>::load(source + at).unpack(values);
#pragma unroll
    for (int i = 0; i < kPiece; ++i) values[i] *= scale;
    store_wide(target + at, values);
  }
}

template <class T, class W>
__device__ __forceinline__ void embed(const EmbedArgs& args) {
  const DeviceRow row = args.rows[block_id_x()];
  const W* table = static_cast<const W*>(args.table);
  const T* position = static_cast<const T*>(args.position_table) + row.position * args.position_stride;
  T* out = static_cast<T*>(args.out) + block_id_x() * args.out_stride;
  float scale = 1;
  if constexpr (sizeof(W) == 1) scale = args.scales[row.token];
  for (int i = thread_id(); i < args.width; i += static_cast<int>(kRowThreads)) {
    const float word = to_float(table[weight_place<W>(args.layout, row.token, i, args.padded_width)]);
    store(out + i, multiply_add(word, scale, to_float(position[i])));
  }
}

template <class T>
__device__ __forceinline__ void write_rows(const ConvertArgs& args) {
  const float* from = args.dense + static_cast<long long>(block_id_x()) * args.width;
  const long long place = block_id_x() * args.stride;
  for (int i = thread_id(); i < args.width; i += static_cast<int>(kRowThreads))
    if (args.is_full)
      static_cast<float*>(args.rows_data)[place + i] = from[i];
    else
      store(static_cast<T*>(args.rows_data) + place + i, from[i]);
}

template <class T>
__device__ __forceinline__ void read_rows(const ConvertArgs& args) {
  float* to = args.dense + static_cast<long long>(block_id_x()) * args.width;
  const long long place = block_id_x() * args.stride;
  for (int i = thread_id(); i < args.width; i += static_cast<int>(kRowThreads))
    to[i] = args.is_full ? static_cast<const float*>(args.rows_data)[place + i]
                         : to_float(static_cast<const T*>(args.rows_data)[place + i]);
}

template <class T>
__device__ __forceinline__ void copy_row(const T* from, T* to, int width) {
  int done = 0;
  if (is_aligned(from, 0) && is_aligned(to, 0)) {
    done = width / kPerVec<T> * kPerVec<T>;
    for (int i = thread_id(); i < width / kPerVec<T>; i += static_cast<int>(kRowThreads))
      reinterpret_cast<Vec16*>(to)[i] = reinterpret_cast<const Vec16*>(from)[i];
  }
  for (int i = done + thread_id(); i < width; i += static_cast<int>(kRowThreads)) to[i] = from[i];
}

template <class T>
__device__ __forceinline__ void copy_rows(const CopyRowsArgs& args) {
  copy_row(static_cast<const T*>(args.source) + block_id_x() * args.source_stride,
           static_cast<T*>(args.target) + block_id_x() * args.target_stride, args.width);
}

template <class T>
__device__ __forceinline__ void copy_slot(const CopySlotArgs& args) {
  const long long line = 2LL * args.width, slot = args.capacity * line;
  T* layer = static_cast<T*>(args.cache) + block_id_y() * args.slots * slot + block_id_x() * line;
  copy_row<T>(layer + args.from * slot, layer + args.to * slot, 2 * args.width);
}

}  // namespace sotto::gpu
