#pragma once

#include "backend/gpu/kernels/vendor.h"

// The types that activations and weights have in memory. All arithmetic is float32.
namespace sotto::gpu {

struct Half {
  unsigned short bits;
};
struct Bfloat {
  unsigned short bits;
};

template <class T>
inline constexpr int kPerVec = 16 / static_cast<int>(sizeof(T));  // elements of a Vec16

// --- one element ---
__device__ __forceinline__ float to_float(float value) {
  return value;
}
__device__ __forceinline__ float to_float(Half value) {
  return half_to_float(value.bits);
}
__device__ __forceinline__ float to_float(Bfloat value) {
  return bits_to_float(static_cast<unsigned>(value.bits) << 16);
}
__device__ __forceinline__ float to_float(signed char value) {
  return static_cast<float>(value);
}

__device__ __forceinline__ void store(float* to, float value) {
  *to = value;
}
__device__ __forceinline__ void store(Half* to, float value) {
  to->bits = float_to_half(value);
}
__device__ __forceinline__ void store(Bfloat* to, float value) {
  to->bits = float_to_bfloat(value);
}

// --- two 16-bit elements in a word ---
template <class T>
struct Pair;
template <>
struct Pair<Half> {
  static __device__ __forceinline__ void unpack(unsigned word, float& first, float& second) {
    first = half_to_float(static_cast<unsigned short>(word));
    second = half_to_float(static_cast<unsigned short>(word >> 16));
  }
  static __device__ __forceinline__ unsigned pack(float first, float second) {
    return floats_to_halves(first, second);
  }
};
template <>
struct Pair<Bfloat> {
  static __device__ __forceinline__ void unpack(unsigned word, float& first, float& second) {
    first = bits_to_float(word << 16);
    second = bits_to_float(word & 0xffff0000U);
  }
  static __device__ __forceinline__ unsigned pack(float first, float second) {
    return floats_to_bfloats(first, second);
  }
};

// --- 16 bytes ---
template <class T>
struct Vec {
  static __device__ __forceinline__ void unpack(const Vec16& v, float (&out)[8]) {
    Pair<T>::unpack(v.x, out[0], out[1]);
    Pair<T>::unpack(v.y, out[2], out[3]);
    Pair<T>::unpack(v.z, out[4], out[5]);
    Pair<T>::unpack(v.w, out[6], out[7]);
  }
  static __device__ __forceinline__ Vec16 pack(const float (&in)[8]) {
    Vec16 v;
    v.x = Pair<T>::pack(in[0], in[1]);
    v.y = Pair<T>::pack(in[2], in[3]);
    v.z = Pair<T>::pack(in[4], in[5]);
    v.w = Pair<T>::pack(in[6], in[7]);
    return v;
  }
};
template <>
struct Vec<float> {
  static __device__ __forceinline__ void unpack(const Vec16& v, float (&out)[4]) {
    out[0] = bits_to_float(v.x);
    out[1] = bits_to_float(v.y);
    out[2] = bits_to_float(v.z);
    out[3] = bits_to_float(v.w);
  }
  static __device__ __forceinline__ Vec16 pack(const float (&in)[4]) {
    Vec16 v;
    v.x = float_to_bits(in[0]);
    v.y = float_to_bits(in[1]);
    v.z = float_to_bits(in[2]);
    v.w = float_to_bits(in[3]);
    return v;
  }
};
// Whether 16-byte loads may begin at this address and at every `stride` elements from it.
template <class T>
__device__ __forceinline__ bool is_aligned(const T* address, long long stride) {
  return ((reinterpret_cast<unsigned long long>(address) |
           static_cast<unsigned long long>(stride) * sizeof(T)) &
          15) == 0;
}

// --- shuffles inside the teams of 32 threads ---
__device__ __forceinline__ float shuffle_xor(float value, int mask) {
  return bits_to_float(shuffle_xor(float_to_bits(value), mask));
}
__device__ __forceinline__ int shuffle_xor(int value, int mask) {
  return static_cast<int>(shuffle_xor(static_cast<unsigned>(value), mask));
}

template <int Count>
__device__ __forceinline__ void shuffle_xor(float (&values)[Count], int mask) {
  unsigned bits[Count];
#pragma unroll
  for (int i = 0; i < Count; ++i) bits[i] = float_to_bits(values[i]);
  shuffle_xor(bits, mask);
#pragma unroll
  for (int i = 0; i < Count; ++i) values[i] = bits_to_float(bits[i]);
}

}  // namespace sotto::gpu
