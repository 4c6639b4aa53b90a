#include "tensor/tensor_view.h"

#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"

namespace sotto {
namespace {

class Bytes {
 public:
  template <class T>
  Bytes& add(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
    return *this;
  }
  std::vector<std::byte>& get() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

TensorView make_view(DType type, Shape shape, std::vector<std::byte> bytes) {
  TensorView view;
  view.dtype = type;
  view.shape = std::move(shape);
  view.owner = memory_region(std::move(bytes));
  view.data = view.owner->bytes();
  return view;
}

constexpr uint16_t kHalf = 0x3800;  // 0.5
constexpr uint16_t kMinusTwo = 0xc000;

// Value i of the block has the quantised number (7 * i) % count, so that every one of them occurs.
int number(int i, int count) {
  return 7 * i % count;
}

void add_nibbles(Bytes& block, int count) {
  for (int i = 0; i < 16; ++i)
    block.add(static_cast<uint8_t>((number(i, count) & 15) | (number(i + 16, count) & 15) << 4));
}

uint32_t fifth_bits(int count) {
  uint32_t bits = 0;
  for (int i = 0; i < 32; ++i) bits |= static_cast<uint32_t>(number(i, count) >> 4) << i;
  return bits;
}

TEST(ReadRows, EveryBlockType) {
  Bytes q4_0, q4_1, q5_0, q5_1, q8_0;
  add_nibbles(q4_0.add(kHalf), 16);
  add_nibbles(q4_1.add(kHalf).add(kMinusTwo), 16);
  add_nibbles(q5_0.add(kHalf).add(fifth_bits(32)), 32);
  add_nibbles(q5_1.add(kHalf).add(kMinusTwo).add(fifth_bits(32)), 32);
  q8_0.add(kHalf);
  for (int i = 0; i < 32; ++i) q8_0.add(static_cast<int8_t>(i * 8 - 128));
  const auto v4_0 = read_all(make_view(DType::q4_0, {32}, q4_0.get()));
  const auto v4_1 = read_all(make_view(DType::q4_1, {32}, q4_1.get()));
  const auto v5_0 = read_all(make_view(DType::q5_0, {32}, q5_0.get()));
  const auto v5_1 = read_all(make_view(DType::q5_1, {32}, q5_1.get()));
  const auto v8_0 = read_all(make_view(DType::q8_0, {32}, q8_0.get()));
  for (int i = 0; i < 32; ++i) {
    EXPECT_EQ(v4_0[i], 0.5f * static_cast<float>(number(i, 16) - 8)) << i;
    EXPECT_EQ(v4_1[i], 0.5f * static_cast<float>(number(i, 16)) - 2.0f) << i;
    EXPECT_EQ(v5_0[i], 0.5f * static_cast<float>(number(i, 32) - 16)) << i;
    EXPECT_EQ(v5_1[i], 0.5f * static_cast<float>(number(i, 32)) - 2.0f) << i;
    EXPECT_EQ(v8_0[i], 0.5f * static_cast<float>(i * 8 - 128)) << i;
  }
}

TEST(ReadRows, BlocksOfSomeRows) {
  Bytes bytes;
  for (int row = 0; row < 3; ++row)
    for (int block = 0; block < 2; ++block) {
      bytes.add(kHalf);
      for (int i = 0; i < 32; ++i) bytes.add(static_cast<int8_t>(row * 10 + block));
    }
  const TensorView view = make_view(DType::q8_0, {3, 64}, bytes.get());
  std::vector<float> out(2 * 64);
  read_rows(view, 1, 2, out.data());
  EXPECT_EQ(out[0], 5.0f);
  EXPECT_EQ(out[63], 5.5f);
  EXPECT_EQ(out[64], 10.0f);
  EXPECT_EQ(out[127], 10.5f);
}

TEST(ReadRows, Int8DividesByItsScale) {
  Bytes values, scales;
  for (const int value : {10, -20, 127, -128}) values.add(static_cast<int8_t>(value));
  scales.add(2.0f).add(4.0f);
  TensorView view = make_view(DType::i8, {2, 2}, values.get());
  const auto scale_owner = memory_region(scales.get());
  view.scales = scale_owner->bytes();
  EXPECT_EQ(read_all(view), (std::vector<float>{5, -10, 31.75f, -32}));
  view.scales = view.scales.first(4);
  EXPECT_EQ(read_all(view), (std::vector<float>{5, -10, 63.5f, -64}));
  view.scales = {};
  EXPECT_THROW(read_all(view), Error);
}

TEST(ReadRows, PlainTypesUnaligned) {
  std::vector<std::byte> bytes(1 + 3 * 4);
  const float values[] = {1.5f, -2.25f, 1e-3f};
  std::memcpy(bytes.data() + 1, values, sizeof(values));
  TensorView view = make_view(DType::f32, {3, 1}, bytes);
  view.data = view.data.subspan(1);
  EXPECT_EQ(read_all(view), (std::vector<float>{1.5f, -2.25f, 1e-3f}));
  float second = 0;
  read_rows(view, 1, 1, &second);
  EXPECT_EQ(second, -2.25f);
}

TEST(ReadRows, RefusesRowsThatAreNotThere) {
  const TensorView view = make_view(DType::f16, {2, 2}, std::vector<std::byte>(8));
  float out[8];
  EXPECT_THROW(read_rows(view, 1, 2, out), Error);
  EXPECT_THROW(read_rows(view, -1, 1, out), Error);
  EXPECT_NO_THROW(read_rows(view, 2, 0, out));
  EXPECT_THROW(read_all(make_view(DType::f16, {2, 2}, std::vector<std::byte>(7))), Error);
}

TEST(TensorBytes, RefusesWhatCannotBe) {
  EXPECT_EQ(tensor_bytes(DType::f16, {3, 5}), 30u);
  EXPECT_EQ(tensor_bytes(DType::f32, {}), 4u);
  EXPECT_EQ(tensor_bytes(DType::f32, {0, 7}), 0u);
  EXPECT_EQ(tensor_bytes(DType::q5_1, {2, 64}), 96u);
  EXPECT_THROW(tensor_bytes(DType::q4_0, {2, 48}), Error);
  EXPECT_THROW(tensor_bytes(DType::f32, {-1}), Error);
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  EXPECT_THROW(tensor_bytes(DType::f32, {kHuge}), Error);
  EXPECT_THROW(tensor_bytes(DType::i8, {kHuge, kHuge, kHuge}), Error);
}

TEST(ShapeText, ReadsAsAList) {
  EXPECT_EQ(shape_text({384, 80, 3}), "[384, 80, 3]");
}

}  // namespace
}  // namespace sotto
