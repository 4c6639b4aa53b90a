#pragma once

// No GPU at all: the host's compiler builds the same kernels for the tests, which run the threads of a block
// as fibers (tests/fault/emulated). Shared memory is per system thread: it runs one block at a time.
#include <bit>
#include <cmath>

#define __device__
#define __forceinline__ inline
#define __shared__ static thread_local

namespace sotto::gpu {

namespace emulated {

struct Place {
  int thread, block_x, block_y, block_z, blocks_x;
};
extern constinit thread_local Place place;  // of the thread that runs now

void wait_for_block();
// Gives these values, and gets what that lane of the team of 32 gave.
void exchange(unsigned* values, int count, int lane);
inline constexpr int kMostExchanged = 16;  // values

}  // namespace emulated

// 16 bytes that one instruction loads or stores.
struct alignas(16) Vec16 {
  unsigned x, y, z, w;
};

// --- where a thread is ---
inline int thread_id() {
  return emulated::place.thread;
}
inline int block_id_x() {
  return emulated::place.block_x;
}
inline int block_id_y() {
  return emulated::place.block_y;
}
inline int block_id_z() {
  return emulated::place.block_z;
}
inline int block_count_x() {
  return emulated::place.blocks_x;
}

// --- threads of a block together ---
inline void barrier() {
  emulated::wait_for_block();
}
inline unsigned shuffle_xor(unsigned value, int mask) {
  emulated::exchange(&value, 1, thread_id() % 32 ^ mask);
  return value;
}
template <int Count>
inline void shuffle_xor(unsigned (&values)[Count], int mask) {
  static_assert(Count <= emulated::kMostExchanged);
  emulated::exchange(values, Count, thread_id() % 32 ^ mask);
}

// --- blocks of a grid together: they run one after the other ---
inline unsigned atomic_add(unsigned* address, unsigned value) {
  const unsigned before = *address;
  *address += value;
  return before;
}
inline void device_fence() {}
inline void wait_for_previous_kernel() {}
inline void let_next_kernel_begin() {}

// --- arithmetic ---
inline float bits_to_float(unsigned bits) {
  return std::bit_cast<float>(bits);
}
inline unsigned float_to_bits(float value) {
  return std::bit_cast<unsigned>(value);
}
inline float multiply_add(float a, float b, float c) {
  return a * b + c;
}
inline float larger(float a, float b) {  // the other one where one is not a number
  return a > b || b != b ? a : b;
}
inline float square_root(float x) {
  return std::sqrt(x);
}
inline float exp2_approximate(float x) {
  return std::exp2(x);
}
inline float log2_approximate(float x) {
  return std::log2(x);
}

// --- 16-bit floats: two in one word, the first in the low half; rounding to nearest even ---
inline float half_to_float(unsigned short bits) {
  const unsigned size = bits & 0x7fffU, sign = (bits & 0x8000U) << 16;
  if (size >= 0x7c00U) return bits_to_float(sign | 0x7f800000U | (size & 0x3ffU) << 13);
  return bits_to_float(sign | float_to_bits(bits_to_float(size << 13) * 0x1p112F));
}
inline unsigned short float_to_half(float value) {
  const unsigned bits = float_to_bits(value), sign = bits >> 16 & 0x8000U, size = bits & 0x7fffffffU;
  unsigned half;
  if (size > 0x7f800000U)
    half = 0x7fffU;
  else if (size >= 0x477ff000U)  // rounds beyond the largest half
    half = 0x7c00U;
  else if (size < 0x38800000U)  // below the smallest normal half: adding 1/2 leaves the bits of the result
    half = float_to_bits(bits_to_float(size) + 0.5F) - 0x3f000000U;
  else
    half = (size + 0xfffU + (size >> 13 & 1U) - 0x38000000U) >> 13;
  return static_cast<unsigned short>(sign | half);
}
inline unsigned floats_to_halves(float first, float second) {
  return float_to_half(first) | static_cast<unsigned>(float_to_half(second)) << 16;
}
inline unsigned short float_to_bfloat(float value) {
  const unsigned bits = float_to_bits(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fffU;
  return static_cast<unsigned short>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}
inline unsigned floats_to_bfloats(float first, float second) {
  return float_to_bfloat(first) | static_cast<unsigned>(float_to_bfloat(second)) << 16;
}

// --- memory ---
inline void prefetch_line(const void*) {}
inline Vec16 load_once(const Vec16* address) {
  return *address;
}
inline Vec16 load_once_if(bool wanted, const Vec16* address) {
  return wanted ? *address : Vec16{0, 0, 0, 0};
}

}  // namespace sotto::gpu
