#pragma once

#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "backend/gpu/kernels/launch_shapes.h"
#include "fault/emulated/kernels.h"
#include "tensor/dtype.h"

// The plain GPU kernels by themselves, on the CPU.
namespace sotto::test {

enum class Element { f16, bf16, f32 };
inline constexpr Element kElements[] = {Element::f16, Element::bf16, Element::f32};
inline const char* suffix(Element element) {
  return element == Element::f16 ? "_f16" : element == Element::bf16 ? "_bf16" : "_f32";
}

enum class Placement { aligned, odd };
inline constexpr Placement kPlacements[] = {Placement::aligned, Placement::odd};

// Rows of an element type: on 16-byte boundaries with gaps between them, or on no boundary at all.
class KernelRows {
 public:
  KernelRows(Element element, size_t rows, size_t width, Placement placement)
      : element_(element),
        rows_(rows),
        width_(width),
        stride_(placement == Placement::aligned ? (width + 15) / 8 * 8 : width + 3),
        offset_(placement == Placement::aligned ? 0 : 5),
        bytes_((offset_ + rows * stride_) * size(), std::byte{0xff}) {}
  KernelRows(Element element, std::span<const float> values, size_t width, Placement placement)
      : KernelRows(element, values.size() / width, width, placement) {
    for (size_t i = 0; i < values.size(); ++i) set(i / width, i % width, values[i]);
  }

  void* data() { return bytes_.data() + offset_ * size(); }
  gpu::Stride stride() const { return static_cast<gpu::Stride>(stride_); }

  float get(size_t row, size_t column) const {
    const std::byte* at = bytes_.data() + (offset_ + row * stride_ + column) * size();
    if (element_ == Element::f32) {
      float value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    uint16_t bits;
    std::memcpy(&bits, at, sizeof bits);
    return element_ == Element::f16 ? half_to_float(bits) : bfloat_to_float(bits);
  }
  void set(size_t row, size_t column, float value) {
    std::byte* at = bytes_.data() + (offset_ + row * stride_ + column) * size();
    const uint16_t bits = element_ == Element::f16 ? float_to_half(value) : float_to_bfloat(value);
    std::memcpy(at, element_ == Element::f32 ? static_cast<const void*>(&value) : &bits, size());
  }
  std::vector<float> values() const {
    std::vector<float> all;
    for (size_t row = 0; row < rows_; ++row)
      for (size_t i = 0; i < width_; ++i) all.push_back(get(row, i));
    return all;
  }

 private:
  size_t size() const { return element_ == Element::f32 ? 4 : 2; }

  Element element_;
  size_t rows_, width_, stride_, offset_;
  std::vector<std::byte> bytes_;
};

inline std::vector<float> random_floats(size_t count, unsigned seed, float deviation = 1.0F) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

// As an element type holds them.
inline std::vector<float> rounded(Element element, std::vector<float> values) {
  return KernelRows(element, values, values.size(), Placement::aligned).values();
}

template <class Args>
void run_kernel(const std::string& name, const gpu::LaunchShape& shape, const Args& args) {
  const gpu::emulated::Kernel* kernel = gpu::emulated::find_kernel(name);
  ASSERT_NE(kernel, nullptr) << name;
  ASSERT_EQ(kernel->threads, shape.threads) << name;
  ASSERT_EQ(kernel->argument_bytes, sizeof(Args)) << name;
  kernel->run({shape.grid_x, shape.grid_y, shape.grid_z}, &args);
}
template <class Args>
void run_kernel(const std::string& name, const Args& args) {
  run_kernel(name, gpu::shape_of(args), args);
}

inline double relative_error(std::span<const float> actual, std::span<const double> expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double difference = 0, size = 0;
  for (size_t i = 0; i < actual.size() && i < expected.size(); ++i) {
    difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(difference / size);
}

inline double tolerance(Element element) {
  return element == Element::f16 ? 5e-4 : element == Element::bf16 ? 4e-3 : 2e-6;
}

}  // namespace sotto::test
