#pragma once

#include "backend/gpu/kernels/element.h"

// Rows are worked on in pieces of 8 elements, whatever the type and wherever they lie: wide loads are a
// matter of speed and change no order of sums.
namespace sotto::gpu {

inline constexpr int kPiece = 8;

// 8 neighbouring elements as they lie in memory.
template <class T>
struct Piece {  // of 16 bits
  Vec16 words;

  static __device__ __forceinline__ Piece zero() {
    Piece piece;
    piece.words.x = piece.words.y = piece.words.z = piece.words.w = 0;
    return piece;
  }
  static __device__ __forceinline__ Piece load(const T* from) {
    Piece piece;
    piece.words = *reinterpret_cast<const Vec16*>(from);
    return piece;
  }
  static __device__ __forceinline__ Piece load_once_if(bool wanted, const T* from) {
    Piece piece;
    piece.words = gpu::load_once_if(wanted, reinterpret_cast<const Vec16*>(from));
    return piece;
  }
  // The first `count` elements, then zeros; from any address.
  static __device__ __forceinline__ Piece gather(const T* from, int count) {
    const auto pair = [&](int i) {
      const unsigned low = i < count ? from[i].bits : 0U, high = i + 1 < count ? from[i + 1].bits : 0U;
      return low | high << 16;
    };
    Piece piece;
    piece.words.x = pair(0);
    piece.words.y = pair(2);
    piece.words.z = pair(4);
    piece.words.w = pair(6);
    return piece;
  }
  __device__ __forceinline__ void unpack(float (&out)[kPiece]) const { Vec<T>::unpack(words, out); }
};

template <>
struct Piece<float> {
  Vec16 words[2];

  static __device__ __forceinline__ Piece zero() {
    Piece piece;
    piece.words[0].x = piece.words[0].y = piece.words[0].z = piece.words[0].w = 0;
    piece.words[1] = piece.words[0];
    return piece;
  }
  static __device__ __forceinline__ Piece load(const float* from) {
    Piece piece;
    piece.words[0] = reinterpret_cast<const Vec16*>(from)[0];
    piece.words[1] = reinterpret_cast<const Vec16*>(from)[1];
    return piece;
  }
  static __device__ __forceinline__ Piece load_once_if(bool wanted, const float* from) {
    Piece piece;
    piece.words[0] = gpu::load_once_if(wanted, reinterpret_cast<const Vec16*>(from));
    piece.words[1] = gpu::load_once_if(wanted, reinterpret_cast<const Vec16*>(from) + 1);
    return piece;
  }
  static __device__ __forceinline__ Piece gather(const float* from, int count) {
    float values[2][4];
#pragma unroll
    for (int i = 0; i < kPiece; ++i) values[i / 4][i % 4] = i < count ? from[i] : 0.0F;
    Piece piece;
    piece.words[0] = Vec<float>::pack(values[0]);
    piece.words[1] = Vec<float>::pack(values[1]);
    return piece;
  }
  __device__ __forceinline__ void unpack(float (&out)[kPiece]) const {
    float low[4], high[4];
    Vec<float>::unpack(words[0], low);
    Vec<float>::unpack(words[1], high);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      out[i] = low[i];
      out[4 + i] = high[i];
    }
  }
};

template <>
struct Piece<signed char> {
  unsigned long long words;

  static __device__ __forceinline__ Piece zero() {
    Piece piece;
    piece.words = 0;
    return piece;
  }
  static __device__ __forceinline__ Piece load(const signed char* from) {
    Piece piece;
    piece.words = *reinterpret_cast<const unsigned long long*>(from);
    return piece;
  }
  __device__ __forceinline__ void unpack(float (&out)[kPiece]) const {
    const unsigned halves[2] = {static_cast<unsigned>(words), static_cast<unsigned>(words >> 32)};
#pragma unroll
    for (int i = 0; i < kPiece; ++i)
      out[i] = static_cast<float>(static_cast<signed char>(halves[i / 4] >> i % 4 * 8));
  }
};

// Elements [at, at + 8) of a row of `width`; `wide` says that 16-byte loads are possible.
template <class T>
__device__ __forceinline__ Piece<T> piece_of_row(const T* row, int at, int width, bool wide) {
  if (wide && at + kPiece <= width) return Piece<T>::load(row + at);
  return Piece<T>::gather(row + at, width - at);
}

// 8 values to elements [at, at + 8) of a row of `width`.
__device__ __forceinline__ void store_wide(float* to, const float (&values)[kPiece]) {
  float halves[2][4];
#pragma unroll
  for (int i = 0; i < kPiece; ++i) halves[i / 4][i % 4] = values[i];
  reinterpret_cast<Vec16*>(to)[0] = Vec<float>::pack(halves[0]);
  reinterpret_cast<Vec16*>(to)[1] = Vec<float>::pack(halves[1]);
}
template <class T>
__device__ __forceinline__ void store_wide(T* to, const float (&values)[kPiece]) {
  *reinterpret_cast<Vec16*>(to) = Vec<T>::pack(values);
}
template <class T>
__device__ __forceinline__ void store_piece(T* row, int at, int width, bool wide,
                                            const float (&values)[kPiece]) {
  if (wide && at + kPiece <= width) {
    store_wide(row + at, values);
    return;
  }
#pragma unroll
  for (int i = 0; i < kPiece; ++i)
    if (at + i < width) store(row + at + i, values[i]);
}

}  // namespace sotto::gpu
