#include "model/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "support/checkpoint_tools.h"
#include "support/safetensors_bytes.h"

namespace sotto {
namespace {

using test::error_of;
using test::safetensors_bytes;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

SafetensorsContent read(std::vector<std::byte> bytes) {
  return read_safetensors({"file", memory_region(std::move(bytes))});
}

std::string error_for(std::string_view header, size_t data_bytes = 0) {
  return error_of([&] { read(safetensors_bytes(header, data_bytes)); });
}

constexpr std::string_view kGood =
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]},)"
    R"("b":{"dtype":"F32","shape":[],"data_offsets":[12,16]},"c":{"dtype":"BF16","shape":[0],"data_offsets":[16,16]}})";

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const SafetensorsContent content = read(safetensors_bytes(kGood, 16));
  ASSERT_EQ(content.tensors.size(), 3u);
  EXPECT_EQ(content.tensors.at("a").dtype, DType::f16);
  EXPECT_EQ(content.tensors.at("a").shape, (Shape{2, 3}));
  EXPECT_EQ(content.tensors.at("b").data.size(), 4u);
  EXPECT_EQ(content.tensors.at("c").elements(), 0);
  EXPECT_EQ(content.metadata.at("format"), "pt");
}

TEST(Safetensors, TensorsKeepTheFileAlive) {
  TensorView tensor;
  {
    SafetensorsContent content = read(safetensors_bytes(kGood, 16));
    tensor = content.tensors.at("a");
  }
  EXPECT_EQ(read_all(tensor), std::vector<float>(6, 0.0f));
}

TEST(Safetensors, EveryTruncationIsAnError) {
  const std::vector<std::byte> whole = safetensors_bytes(kGood, 16);
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_THAT(error_of([&] { read(part); }), StartsWith("file")) << size;
  }
}

TEST(Safetensors, HeaderLengths) {
  std::vector<std::byte> bytes = safetensors_bytes("{}");
  for (const size_t position : {2, 3, 4, 7}) {
    std::vector<std::byte> absurd = bytes;
    absurd[position] = std::byte{0xff};
    EXPECT_THAT(error_of([&] { read(absurd); }), HasSubstr("header claims"));
  }
}

TEST(Safetensors, HeadersThatAreNoObjects) {
  EXPECT_THAT(error_for("[1]"), HasSubstr("JSON object"));
  EXPECT_THAT(error_for(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_for("{\"a\":"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_for(R"({"a":1})"), HasSubstr("'a' is not an object"));
  EXPECT_THAT(error_for(R"({"__metadata__":[]})"), HasSubstr("metadata"));
  EXPECT_THAT(error_for(R"({"__metadata__":{"k":1}})"), HasSubstr("'k' should be a string"));
}

TEST(Safetensors, RepeatedKeys) {
  EXPECT_THAT(error_for(R"({"a":{"dtype":"F16","shape":[0],"data_offsets":[0,0]},)"
                        R"("a":{"dtype":"F16","shape":[0],"data_offsets":[0,0]}})"),
              HasSubstr("'a' occurs twice"));
  EXPECT_THAT(error_for(R"({"a":{"dtype":"F16","dtype":"F32","shape":[0],"data_offsets":[0,0]}})"),
              HasSubstr("'dtype' occurs twice"));
}

TEST(Safetensors, DeepNestingDoesNotExhaustTheStack) {
  const std::string deep = "{\"a\":" + std::string(1'000'000, '[');
  EXPECT_THAT(error_for(deep), HasSubstr("nested"));
}

std::string entry(std::string_view type, std::string_view shape, std::string_view offsets) {
  return fmt::format(R"({{"t":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", type, shape, offsets);
}

TEST(Safetensors, UnknownTypesNameTheTensor) {
  EXPECT_THAT(error_for(entry("\"I64\"", "[1]", "[0,8]"), 8), AllOf(HasSubstr("'t'"), HasSubstr("I64")));
  EXPECT_THAT(error_for(entry("7", "[1]", "[0,8]"), 8), HasSubstr("has no type"));
}

TEST(Safetensors, BadShapes) {
  EXPECT_THAT(error_for(entry("\"F32\"", "[-1]", "[0,4]"), 4), HasSubstr("shape of t"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[1.5]", "[0,4]"), 4), HasSubstr("whole number"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[4294967296]", "[0,4]"), 4), HasSubstr("shape of t"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[18446744073709551615]", "[0,4]"), 4), HasSubstr("shape of t"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[2147483648,2147483648,2147483648]", "[0,0]")),
              HasSubstr("too large"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4), HasSubstr("no valid shape"));
  EXPECT_THAT(error_for(entry("\"F32\"", "\"x\"", "[0,4]"), 4), HasSubstr("no valid shape"));
}

TEST(Safetensors, BadOffsets) {
  EXPECT_THAT(error_for(entry("\"F32\"", "[1]", "[0,5]"), 8), HasSubstr("needs 4 bytes but has 5"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[1]", "[8,12]"), 8), HasSubstr("offset of t"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[1]", "[4,0]"), 8), HasSubstr("offset of t"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[1]", "[-4,0]"), 8), HasSubstr("offset of t"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[1]", "[9223372036854775804,9223372036854775808]"), 8),
              HasSubstr("offset of t"));
  EXPECT_THAT(error_for(entry("\"F32\"", "[1]", "[0]"), 8), HasSubstr("no offsets"));
  EXPECT_THAT(error_for(R"({"t":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                        R"("u":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                        8),
              HasSubstr("'t' and 'u' overlap"));
}

TEST(Safetensors, LooksLike) {
  EXPECT_TRUE(looks_like_safetensors(safetensors_bytes("{}")));
  EXPECT_FALSE(looks_like_safetensors(test::to_bytes("<!DOCTYPE html>")));
  EXPECT_FALSE(looks_like_safetensors({}));
}

}  // namespace
}  // namespace sotto
