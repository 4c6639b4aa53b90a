#include "tensor/float_convert.h"

#include <bit>
#include <cstring>

#include "platform/cpu_features.h"
#include "tensor/dtype.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sotto {

static_assert(std::endian::native == std::endian::little,
              "model files are little-endian and are read in place");

namespace {

template <class To, class From, class Convert>
inline void convert_run(const void* from, size_t count, void* to, Convert convert) noexcept {
  for (size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, static_cast<const std::byte*>(from) + i * sizeof(From), sizeof(From));
    const To converted = convert(value);
    std::memcpy(static_cast<std::byte*>(to) + i * sizeof(To), &converted, sizeof(To));
  }
}

#if defined(__x86_64__)
bool has_f16c() noexcept {
  static const bool has = cpu_features().avx2_fma;
  return has;
}

[[gnu::target("avx,f16c")]] void halves_to_floats_f16c(const std::byte* from, size_t count,
                                                       float* to) noexcept {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
  }
  portable::halves_to_floats(from + 2 * i, count - i, to + i);
}

[[gnu::target("avx,f16c")]] void floats_to_halves_f16c(const float* from, size_t count,
                                                       std::byte* to) noexcept {
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * i), halves);
  }
  portable::floats_to_halves(from + i, count - i, to + 2 * i);
}
#endif

}  // namespace

namespace portable {

void halves_to_floats(const std::byte* from, size_t count, float* to) noexcept {
  convert_run<float, uint16_t>(from, count, to, half_to_float);
}

void floats_to_halves(const float* from, size_t count, std::byte* to) noexcept {
  convert_run<uint16_t, float>(from, count, to, float_to_half);
}

}  // namespace portable

void halves_to_floats(const std::byte* from, size_t count, float* to) noexcept {
#if defined(__x86_64__)
  if (has_f16c()) return halves_to_floats_f16c(from, count, to);
#endif
  portable::halves_to_floats(from, count, to);
}

void floats_to_halves(const float* from, size_t count, std::byte* to) noexcept {
#if defined(__x86_64__)
  if (has_f16c()) return floats_to_halves_f16c(from, count, to);
#endif
  portable::floats_to_halves(from, count, to);
}

void bfloats_to_floats(const std::byte* from, size_t count, float* to) noexcept {
  // Spelled out, so that the compiler sees the shift and makes vector code of it.
  convert_run<uint32_t, uint16_t>(from, count, to,
                                  [](uint16_t value) { return static_cast<uint32_t>(value) << 16; });
}

void floats_to_bfloats(const float* from, size_t count, std::byte* to) noexcept {
  convert_run<uint16_t, float>(from, count, to, float_to_bfloat);
}

}  // namespace sotto
