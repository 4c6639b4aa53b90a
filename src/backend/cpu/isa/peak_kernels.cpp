// The ceilings of this instruction set: multiply-adds on registers only, and reading without using.
#include "backend/cpu/peak_kernels.h"

#include "backend/cpu/isa/int8_dot.h"
#include "backend/cpu/isa/vec.h"
#include "backend/cpu/matrix_kernels.h"

namespace sotto::cpu::SOTTO_ISA {
namespace {

// Enough independent sums to keep every unit busy, few enough for the registers.
constexpr int kSums = 12;

// An empty statement that claims to change the values: the compiler can neither drop nor merge the loop's
// rounds.
template <class V>
void keep(V& v) {
#if defined(__ARM_NEON)
  asm volatile("" : "+w"(v));
#elif defined(__AVX512F__)
  asm volatile("" : "+v"(v));
#else
  asm volatile("" : "+x"(v));
#endif
}

float multiply_add(size_t rounds) {
  Vec sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = broadcast((float)i);
  Vec a = broadcast(0.5f), b = broadcast(1.0f);
  for (size_t round = 0; round < rounds; ++round) {
    keep(a);
    keep(b);
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = fmadd(a, sums[i], b);
  }
  Vec total = {};
  for (int i = 0; i < kSums; ++i) total += sums[i];
  return reduce_add(total);
}

int32_t multiply_add_int8(size_t rounds) {
  VecInt sums[kSums];
  for (int i = 0; i < kSums; ++i) {
    sums[i] = VecInt{};
    keep(sums[i]);  // equal sums would be computed once
  }
  VecInt bytes = broadcast_int(0x01ff02fe);
  for (size_t round = 0; round < rounds; ++round) {
    keep(bytes);
    const Int8Step weights(bytes);
#pragma GCC unroll 16
    for (int i = 0; i < kSums; ++i) sums[i] = weights.add(kInt8Ones, 1, sums[i]);
  }
  VecInt total = {};
  for (int i = 0; i < kSums; ++i) total += sums[i];
  return total[0];
}

int32_t read(const int32_t* values, size_t count) {
  constexpr size_t kAhead = 2048 / sizeof(int32_t);
  constexpr int kAtOnce = 8;
  VecInt sums[kAtOnce] = {};
  for (size_t i = 0; i < count; i += kAtOnce * kLanes) {
#pragma GCC unroll 8
    for (int j = 0; j < kAtOnce; ++j) {
      if (j * kLanes % 16 == 0) __builtin_prefetch(values + i + j * kLanes + kAhead);
      sums[j] += load_int(values + i + j * kLanes);
    }
  }
  VecInt total = {};
  for (int j = 0; j < kAtOnce; ++j) total += sums[j];
  int32_t sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += total[i];
  return sum;
}

}  // namespace

extern const PeakKernels peak_kernels;
const PeakKernels peak_kernels = {
    .float_operations = 2 * kSums * kLanes,
    .multiply_add = multiply_add,
    .int8_operations = 2 * kSums * kLanes * kInt8Group,
    .multiply_add_int8 = multiply_add_int8,
    .read = read,
};

}  // namespace sotto::cpu::SOTTO_ISA
