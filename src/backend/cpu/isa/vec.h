// The vector type of the CPU kernels. Included only by sources that are compiled once per instruction set,
// each time with SOTTO_ISA set to a namespace of its own; no std templates here, so that wide code cannot
// leak into symbols that the baseline shares.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// GCC 12 warns about its own intrinsics' undefined vectors wherever they are inlined (its bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace sotto::cpu::SOTTO_ISA {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;  // SSE2 and NEON
#endif

// Compiler vectors: + - * / and comparisons work on them as they are.
typedef float Vec __attribute__((vector_size(kLanes * 4)));
typedef int32_t VecInt __attribute__((vector_size(kLanes * 4)));

inline Vec broadcast(float x) {
  return x - Vec{};
}
inline VecInt broadcast_int(int32_t x) {
  return x - VecInt{};
}

inline Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline VecInt load_int(const void* p) {
  VecInt v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store_int(void* p, VecInt v) {
  __builtin_memcpy(p, &v, sizeof v);
}
inline void store(float* p, Vec v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// The ends of rows: the first `lanes` values, the rest of the vector holding `fill`.
inline Vec load_some(const float* p, size_t lanes, float fill) {
  Vec v = broadcast(fill);
  __builtin_memcpy(&v, p, lanes * sizeof(float));
  return v;
}
inline void store_some(float* p, Vec v, size_t lanes) {
  __builtin_memcpy(p, &v, lanes * sizeof(float));
}

// The first `lanes` lanes of v, the rest from `other`.
inline Vec keep_lanes(Vec v, size_t lanes, Vec other) {
  store_some((float*)&other, v, lanes);
  return other;
}

// a * b + c with one rounding where the chip has it. Never left to the compiler's contraction: the same sum
// must come out of every kernel that computes it.
inline Vec fmadd(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return (Vec)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
  return (Vec)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#elif defined(__ARM_NEON)
  return (Vec)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
#else
  return a * b + c;
#endif
}

inline Vec max(Vec a, Vec b) {
#if defined(__AVX512F__)
  return (Vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
  return (Vec)_mm256_max_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
  return (Vec)_mm_max_ps((__m128)a, (__m128)b);
#else
  return a > b ? a : b;
#endif
}
inline Vec min(Vec a, Vec b) {
#if defined(__AVX512F__)
  return (Vec)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
  return (Vec)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(__SSE2__)
  return (Vec)_mm_min_ps((__m128)a, (__m128)b);
#else
  return a < b ? a : b;
#endif
}

inline bool any_above(Vec v, Vec limit) {
#if defined(__AVX512F__)
  return _mm512_cmp_ps_mask((__m512)v, (__m512)limit, _CMP_GT_OQ) != 0;
#elif defined(__AVX2__)
  return _mm256_movemask_ps((__m256)(v > limit)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_ps((__m128)(v > limit)) != 0;
#else
  return vmaxvq_u32((uint32x4_t)(v > limit)) != 0;
#endif
}

inline VecInt round_to_int(Vec v) {  // to nearest even
#if defined(__AVX512F__)
  return (VecInt)_mm512_cvtps_epi32((__m512)v);
#elif defined(__AVX2__)
  return (VecInt)_mm256_cvtps_epi32((__m256)v);
#elif defined(__SSE2__)
  return (VecInt)_mm_cvtps_epi32((__m128)v);
#else
  return (VecInt)vcvtnq_s32_f32((float32x4_t)v);
#endif
}
inline Vec to_float(VecInt v) {
  return __builtin_convertvector(v, Vec);
}

// The lanes of a and b in turn: the first half of them, the second half of them.
inline VecInt zip_low(VecInt a, VecInt b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
  return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}
inline VecInt zip_high(VecInt a, VecInt b) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
  return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

// Turns rows into columns: lane j of vector i and lane i of vector j change places.
inline void transpose(VecInt (&v)[kLanes]) {
  for (int round = 1; round < kLanes; round *= 2) {
    VecInt next[kLanes];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes / 2; ++i) {
      next[2 * i] = zip_low(v[i], v[i + kLanes / 2]);
      next[2 * i + 1] = zip_high(v[i], v[i + kLanes / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kLanes; ++i) v[i] = next[i];
  }
}

// A fixed tree, so that the same lanes always give the same sum.
inline float reduce_add(Vec v) {
  for (int step = kLanes / 2; step > 0; step /= 2)
    for (int i = 0; i < step; ++i) v[i] += v[i + step];
  return v[0];
}
inline float reduce_max(Vec v) {
  float best = v[0];
  for (int i = 1; i < kLanes; ++i) best = v[i] > best ? v[i] : best;
  return best;
}

// kLanes values of float16 storage; storing rounds to nearest even, and a NaN stays a NaN.
inline Vec load_half(const uint16_t* p) {
#if defined(__AVX512F__)
  return (Vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p));
#elif defined(__AVX2__)
  return (Vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p));
#elif defined(__ARM_NEON)
  return (Vec)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
#else
  typedef uint16_t Narrow __attribute__((vector_size(kLanes * 2)));
  Narrow narrow;
  __builtin_memcpy(&narrow, p, sizeof narrow);
  const VecInt bits = __builtin_convertvector(narrow, VecInt);
  const VecInt sign = (bits & 0x8000) << 16, magnitude = (bits & 0x7fff) << 13;
  // The shifted bits are the value times 2^-112, also for subnormals; infinities and NaNs keep the largest
  // exponent.
  const VecInt finite = (VecInt)((Vec)magnitude * 0x1p112f);
  const VecInt is_special = magnitude >= (0x7c00 << 13);
  return (Vec)(sign | (is_special & (magnitude | 0x7f800000)) | (~is_special & finite));
#endif
}
inline void store_half(uint16_t* p, Vec v) {
#if defined(__AVX512F__)
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__AVX2__)
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
#elif defined(__ARM_NEON)
  vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)v)));
#else
  typedef uint16_t Narrow __attribute__((vector_size(kLanes * 2)));
  const VecInt bits = (VecInt)v, magnitude = bits & 0x7fffffff;
  const VecInt normal = ((magnitude + 0xfff + ((magnitude >> 13) & 1)) >> 13) - (112 << 10);
  // Adding 0.5 leaves the value in units of 2^-24, the smallest half, in the low bits.
  const VecInt subnormal = (VecInt)((Vec)magnitude + 0.5f) - 0x3f000000;
  const VecInt is_small = magnitude < 0x38800000;
  const VecInt is_large = magnitude >= 0x47800000;
  const VecInt is_nan = magnitude > 0x7f800000;
  VecInt half = (is_small & subnormal) | (~is_small & normal);
  half = (is_large & 0x7c00) | (~is_large & half) | (is_nan & 0x7e00) | ((bits >> 16) & 0x8000);
  const Narrow narrow = __builtin_convertvector(half, Narrow);
  __builtin_memcpy(p, &narrow, sizeof narrow);
#endif
}

// bfloat16 in the upper half of each lane, rounded to nearest even; a NaN stays a NaN.
inline VecInt round_to_bfloat(Vec v) {
  const VecInt bits = (VecInt)v, is_nan = (bits & 0x7fffffff) > 0x7f800000;
  const VecInt rounded = bits + 0x7fff + ((bits >> 16) & 1);
  return ((is_nan & (bits | 0x400000)) | (~is_nan & rounded)) & broadcast_int((int32_t)0xffff0000u);
}

// 0.5 x (1 + erf(x / sqrt 2)). The normal distribution function is 0.5 + x Q(t) with t = 2 (x / 5.4)^2 - 1; Q
// is a polynomial fitted to it on |x| <= 5.4, where the largest error is 1.3e-7. Beyond, the function is 0 or
// 1 to within 3.4e-8.
inline Vec gelu(Vec x) {
  const Vec inside = min(max(x, broadcast(-5.4f)), broadcast(5.4f));
  const Vec t = fmadd(inside * inside, broadcast(2.0f / (5.4f * 5.4f)), broadcast(-1.0f));
  Vec q = broadcast(-0.0008733374997973442f);
  q = fmadd(q, t, broadcast(0.002172245644032955f));
  q = fmadd(q, t, broadcast(-0.0016513951122760773f));
  q = fmadd(q, t, broadcast(0.001981935929507017f));
  q = fmadd(q, t, broadcast(-0.006182690616697073f));
  q = fmadd(q, t, broadcast(0.010721776634454727f));
  q = fmadd(q, t, broadcast(-0.014253759756684303f));
  q = fmadd(q, t, broadcast(0.01929592341184616f));
  q = fmadd(q, t, broadcast(-0.0256702471524477f));
  q = fmadd(q, t, broadcast(0.032170552760362625f));
  q = fmadd(q, t, broadcast(-0.03921527788043022f));
  q = fmadd(q, t, broadcast(0.04849648475646973f));
  q = fmadd(q, t, broadcast(-0.06532779335975647f));
  q = fmadd(q, t, broadcast(0.1309281438589096f));
  return x * fmadd(inside, q, broadcast(0.5f));
}

// e^x to about one unit in the last place; 0 for very negative x, never a NaN for a finite x.
inline Vec exp(Vec x) {
  x = min(max(x, broadcast(-87.0f)), broadcast(88.0f));
  const VecInt n = round_to_int(x * 1.44269504088896341f);
  const Vec nf = to_float(n);
  Vec r = fmadd(nf, broadcast(-0.693359375f), x);
  r = fmadd(nf, broadcast(2.12194440e-4f), r);
  Vec p = broadcast(1.9875691500e-4f);
  p = fmadd(p, r, broadcast(1.3981999507e-3f));
  p = fmadd(p, r, broadcast(8.3334519073e-3f));
  p = fmadd(p, r, broadcast(4.1665795894e-2f));
  p = fmadd(p, r, broadcast(1.6666665459e-1f));
  p = fmadd(p, r, broadcast(5.0000001201e-1f));
  p = fmadd(p, r * r, r) + 1.0f;
  return p * (Vec)((n + 127) << 23);
}

}  // namespace sotto::cpu::SOTTO_ISA
