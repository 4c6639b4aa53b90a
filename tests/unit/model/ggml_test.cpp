#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>

#include "model/official_models.h"
#include "model/reader.h"
#include "support/checkpoint_tools.h"
#include "support/ggml_writer.h"

namespace sotto::test {
namespace {

using ::testing::HasSubstr;

NamedBytes named(std::vector<std::byte> bytes) {
  return {"model.bin", memory_region(std::move(bytes))};
}

// What the format cannot hold: merges (ids give the order) and what generation_config.json says.
Checkpoint as_ggml_keeps_it(Checkpoint checkpoint) {
  checkpoint.vocabulary.merges.clear();
  checkpoint.generation = {};
  return checkpoint;
}

Checkpoint small_checkpoint() {
  return as_ggml_keeps_it(make_random_checkpoint(small_config(), 7));
}

float largest_value(const TensorView& tensor) {
  float largest = 0;
  for (const float value : read_all(tensor)) largest = std::max(largest, std::fabs(value));
  return largest;
}

void put_int(std::vector<std::byte>& bytes, size_t offset, int32_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

// Where the header of a tensor begins: rank, length of the name, type, dimensions, name.
size_t tensor_header(const std::vector<std::byte>& bytes, std::string_view name, size_t rank) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.find(name) - 4 * (3 + rank);
}

std::string read_error(std::vector<std::byte> bytes) {
  return error_of([&] { read_ggml(named(std::move(bytes))); });
}

class GgmlTypes : public ::testing::TestWithParam<DType> {};

TEST_P(GgmlTypes, ComeBackWithinTheirQuantisationError) {
  const Checkpoint original = small_checkpoint();
  const Checkpoint read = read_ggml(named(write_ggml(original, GetParam()).bytes));
  EXPECT_EQ(read.format, "ggml");
  EXPECT_EQ(read.tensors.at("decoder.embed_tokens.weight").dtype, GetParam());
  std::map<std::string, float> bounds;
  for (const auto& [name, tensor] : original.tensors)
    bounds[name] = ggml_quantisation_error(read.tensors.at(name).dtype, largest_value(tensor));
  EXPECT_TRUE(
      same_checkpoint(original, read, [&](const std::string& name, float) { return bounds.at(name); }));
}

INSTANTIATE_TEST_SUITE_P(All, GgmlTypes,
                         ::testing::Values(DType::f32, DType::f16, DType::q4_0, DType::q4_1, DType::q5_0,
                                           DType::q5_1, DType::q8_0),
                         [](const auto& type) { return std::string(dtype_name(type.param)); });

TEST(Ggml, Float16IsExact) {
  const Checkpoint original = with_type(small_checkpoint(), DType::f16);
  EXPECT_TRUE(same_checkpoint(original, read_ggml(named(write_ggml(original, DType::f16).bytes))));
}

// The layouts of the official releases: 51864 lists 50256 or 50257 tokens, 51865 and 51866 list 50257.
struct ImpliedTokens {
  const char* name;
  int ordinary, languages, vocabulary;
  ListedTokens listed;
};

class GgmlImpliedTokens : public ::testing::TestWithParam<ImpliedTokens> {};

TEST_P(GgmlImpliedTokens, GetTheirStandardNames) {
  const auto [name, ordinary, languages, size, listed] = GetParam();
  ModelConfig config = small_config();
  config.width = 2;
  config.vocabulary = size;
  Checkpoint original = make_random_checkpoint(config, 1);
  original.vocabulary = {};
  for (int i = 0; i < ordinary; ++i) original.vocabulary.tokens.push_back("token " + std::to_string(i));
  original.vocabulary.special.assign(original.vocabulary.tokens.size(), false);
  for (std::string& special : standard_special_tokens(languages))
    original.vocabulary.tokens.push_back(std::move(special));
  original.vocabulary.special.resize(original.vocabulary.tokens.size(), true);
  ASSERT_EQ(original.vocabulary.tokens.size(), static_cast<size_t>(size));

  const Checkpoint read = read_ggml(named(write_ggml(original, DType::f32, listed).bytes));
  EXPECT_EQ(read.vocabulary, original.vocabulary);
  EXPECT_EQ(read.vocabulary.tokens.back(), "<|30.00|>");
}

INSTANTIATE_TEST_SUITE_P(
    Official, GgmlImpliedTokens,
    ::testing::Values(ImpliedTokens{"english", 50256, 99, 51864, ListedTokens::ordinary},
                      ImpliedTokens{"english_with_end", 50256, 99, 51864, ListedTokens::ordinary_and_end},
                      ImpliedTokens{"multilingual", 50257, 99, 51865, ListedTokens::ordinary},
                      ImpliedTokens{"v3", 50257, 100, 51866, ListedTokens::ordinary}),
    [](const auto& layout) { return std::string(layout.param.name); });

TEST(Ggml, KeepsTheEmptyTokenOfMultilingualFilesOrdinary) {
  Checkpoint original = small_checkpoint();
  original.vocabulary.tokens[260].clear();
  EXPECT_TRUE(same_checkpoint(original, read_ggml(named(write_ggml(original, DType::f32).bytes))));
}

TEST(Ggml, CutAtAnyBoundaryGivesOneSentence) {
  const WrittenFile file = write_ggml(small_checkpoint(), DType::q5_0);
  for (const size_t boundary : file.boundaries) {
    if (boundary == file.bytes.size()) continue;
    for (const size_t length : {boundary - 1, boundary}) {
      const auto message =
          read_error({file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(length)});
      ASSERT_THAT(message, ::testing::StartsWith("model.bin: ")) << "cut to " << length;
    }
  }
}

TEST(Ggml, RefusesAnythingElse) {
  EXPECT_FALSE(looks_like_ggml(to_bytes("<!DOCTYPE html>")));
  EXPECT_FALSE(looks_like_ggml({}));
  EXPECT_THAT(read_error(to_bytes("<!DOCTYPE html>")), HasSubstr("no ggml model"));
  EXPECT_TRUE(looks_like_ggml(write_ggml(small_checkpoint(), DType::f16).bytes));
}

TEST(Ggml, RefusesAbsurdSizes) {
  const std::vector<std::byte> good = write_ggml(small_checkpoint(), DType::f16).bytes;
  for (size_t field = 1; field <= 10; ++field)
    for (const int32_t value :
         {0, -1, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max(), 1 << 20}) {
      auto bytes = good;
      put_int(bytes, 4 * field, value);
      EXPECT_THAT(read_error(bytes), ::testing::StartsWith("model.bin: "))
          << "field " << field << " = " << value;
    }
  auto bytes = good;
  put_int(bytes, 4 * 12, 1 << 24);  // mel filters
  put_int(bytes, 4 * 13, 1 << 24);
  EXPECT_THAT(read_error(bytes), HasSubstr("mel filters"));
}

TEST(Ggml, RefusesBadTensorHeaders) {
  const std::vector<std::byte> good = write_ggml(small_checkpoint(), DType::q8_0).bytes;
  const size_t header = tensor_header(good, "encoder.blocks.0.attn.key.weight", 2);
  struct Case {
    size_t field;
    int32_t value;
    const char* reason;
  };
  for (const Case& bad : {Case{0, 0, "0 dimensions"}, Case{0, 9, "9 dimensions"}, Case{1, -1, "name needs"},
                          Case{2, 12, "tensor type 12"}, Case{2, 2, ""}, Case{3, -4, "dimension is -4"},
                          Case{3, 33, "whole blocks"}, Case{4, 1 << 23, "needs"}}) {
    auto bytes = good;
    put_int(bytes, header + 4 * bad.field, bad.value);
    EXPECT_THAT(read_error(bytes), HasSubstr(bad.reason)) << bad.field << " = " << bad.value;
  }
}

TEST(Ggml, RefusesOldQuantisation) {
  auto bytes = write_ggml(small_checkpoint(), DType::q4_0).bytes;
  put_int(bytes, 4 * 11, 1002);
  EXPECT_THAT(read_error(bytes), HasSubstr("quantisation version 1"));
}

TEST(Ggml, NamesMissingDuplicateForeignAndMisshapenTensors) {
  Checkpoint checkpoint = small_checkpoint();
  checkpoint.tensors.erase("decoder.layers.1.fc2.bias");
  EXPECT_THAT(read_error(write_ggml(checkpoint, DType::f16).bytes), HasSubstr("decoder.layers.1.fc2.bias"));

  checkpoint = small_checkpoint();
  checkpoint.tensors["decoder.layer_norm.weight"] = make_tensor({63}, std::vector<float>(63, 1.0f));
  EXPECT_THAT(read_error(write_ggml(checkpoint, DType::f16).bytes), HasSubstr("decoder.layer_norm.weight"));

  checkpoint = small_checkpoint();
  checkpoint.tensors["decoder.extra.weight"] = make_tensor({1}, {1.0f});
  EXPECT_THAT(read_error(write_ggml(checkpoint, DType::f16).bytes),
              HasSubstr("'decoder.extra.weight' is no part"));

  auto bytes = write_ggml(small_checkpoint(), DType::f16).bytes;
  const size_t header = tensor_header(bytes, "encoder.ln_post.bias", 1);
  const std::vector<std::byte> tail(
      bytes.begin() + static_cast<std::ptrdiff_t>(header),
      bytes.begin() + static_cast<std::ptrdiff_t>(header + 4 * 4 + 20 + 64 * 4));
  bytes.insert(bytes.end(), tail.begin(), tail.end());
  EXPECT_THAT(read_error(bytes), HasSubstr("occurs twice"));
}

TEST(Ggml, RefusesBadTokenLists) {
  const std::vector<std::byte> good = write_ggml(small_checkpoint(), DType::f16).bytes;
  const size_t tokens = 4 * 14 + 80 * 201 * sizeof(float);
  for (const int32_t count : {-1, 1 << 30}) {
    auto bytes = good;
    put_int(bytes, tokens, count);
    EXPECT_THAT(read_error(bytes), HasSubstr("tokens are listed"));
  }
  auto bytes = good;
  put_int(bytes, tokens + 4, -1);
  EXPECT_THAT(read_error(bytes), HasSubstr("a token needs 4294967295 bytes"));
}

}  // namespace
}  // namespace sotto::test
