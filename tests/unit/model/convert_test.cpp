#include "model/convert.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/json_text.h"
#include "model/reader.h"
#include "model/safetensors.h"
#include "model/tensor_names.h"
#include "support/checkpoint_tools.h"

namespace sotto {
namespace {

using test::error_of;
using test::make_random_checkpoint;
using test::make_tensor;
using test::same_checkpoint;
using test::small_config;
using test::TemporaryFolder;
using ::testing::HasSubstr;

class Convert : public ::testing::Test {
 protected:
  Checkpoint written(const Checkpoint& checkpoint, DType type) {
    write_safetensors(checkpoint, target_, type);
    return read_checkpoint(target_);
  }

  size_t files_in_folder() const {
    const std::filesystem::directory_iterator files(folder_.path());
    return static_cast<size_t>(std::distance(begin(files), end(files)));
  }

  TemporaryFolder folder_;
  std::filesystem::path target_ = folder_ / "model.out";
  Checkpoint checkpoint_ = make_random_checkpoint(small_config(), 7);
};

TEST_F(Convert, Float32IsExact) {
  EXPECT_TRUE(same_checkpoint(checkpoint_, written(checkpoint_, DType::f32)));
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Convert, NarrowTypesRoundMatricesAndKeepBiases) {
  const auto rounding = [](float relative) {
    return [relative](const std::string& name, float value) {
      const bool vector = name.ends_with(".bias") || name.find("layer_norm") != std::string::npos;
      return vector ? 0.0f : std::fabs(value) * relative + 0x1p-25f;
    };
  };
  EXPECT_TRUE(same_checkpoint(checkpoint_, written(checkpoint_, DType::f16), rounding(0x1p-11f)));
  EXPECT_TRUE(same_checkpoint(checkpoint_, written(checkpoint_, DType::bf16), rounding(0x1p-8f)));
  const Checkpoint halves = written(checkpoint_, DType::f16);
  EXPECT_EQ(halves.tensors.at("encoder.conv1.bias").dtype, DType::f32);
  EXPECT_EQ(halves.tensors.at("encoder.conv1.weight").dtype, DType::f16);
}

TEST_F(Convert, WhatWasHalfStaysHalfByteForByte) {
  const Checkpoint halves = test::with_type(checkpoint_, DType::f16);
  const Checkpoint again = written(halves, DType::f16);
  EXPECT_TRUE(same_checkpoint(halves, again));
  for (const auto& [name, tensor] : again.tensors) EXPECT_EQ(tensor.dtype, DType::f16) << name;
}

TEST_F(Convert, VocabularyWithoutMergesAndUnknownGeneration) {
  checkpoint_.vocabulary.merges.clear();
  checkpoint_.generation = {};
  EXPECT_TRUE(same_checkpoint(checkpoint_, written(checkpoint_, DType::f32)));
}

TEST_F(Convert, EmptySuppressListIsNotAnUnknownOne) {
  checkpoint_.generation.suppress_tokens = std::vector<TokenId>{};
  EXPECT_TRUE(same_checkpoint(checkpoint_, written(checkpoint_, DType::f32)));
}

TEST_F(Convert, OutputMatrixOfItsOwn) {
  const Shape shape = checkpoint_.tensors.at(kEmbedding).shape;
  checkpoint_.tensors[kOutputMatrix] =
      make_tensor(shape, std::vector<float>(static_cast<size_t>(shape_elements(shape)), 0.25f));
  EXPECT_TRUE(same_checkpoint(checkpoint_, written(checkpoint_, DType::f32)));
}

TEST_F(Convert, SameModelSameBytes) {
  write_safetensors(checkpoint_, target_, DType::f16);
  write_safetensors(read_checkpoint(target_), folder_ / "second", DType::f16);
  EXPECT_EQ(test::read_file(target_), test::read_file(folder_ / "second"));
}

TEST_F(Convert, TensorsAreAligned) {
  write_safetensors(checkpoint_, target_, DType::f16);
  const SafetensorsContent content = read_safetensors({"file", map_file(target_)});
  const std::byte* start = nullptr;
  for (const auto& [name, tensor] : content.tensors) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data.data()) % dtype_block_bytes(tensor.dtype), 0u) << name;
    if (start == nullptr || tensor.data.data() < start) start = tensor.data.data();
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(start) % 64, 0u);
}

TEST_F(Convert, ValuesThatFloat16CannotHold) {
  std::vector<float> values = read_all(checkpoint_.tensors.at("encoder.conv1.weight"));
  values[5] = 70000.0f;
  checkpoint_.tensors["encoder.conv1.weight"] = make_tensor({64, 80, 3}, values);
  EXPECT_THAT(error_of([&] { write_safetensors(checkpoint_, target_, DType::f16); }),
              ::testing::AllOf(HasSubstr("encoder.conv1.weight"), HasSubstr("70000")));
  EXPECT_EQ(files_in_folder(), 0u);
  EXPECT_NO_THROW(write_safetensors(checkpoint_, target_, DType::bf16));
}

TEST_F(Convert, TypesThatTheFormatLacks) {
  EXPECT_THAT(error_of([&] { write_safetensors(checkpoint_, target_, DType::q8_0); }), HasSubstr("q8_0"));
}

TEST_F(Convert, TargetsThatCannotBeWritten) {
  EXPECT_THAT(error_of([&] { write_safetensors(checkpoint_, folder_ / "no/such/folder", DType::f32); }),
              HasSubstr("cannot be created"));
  std::filesystem::create_directory(target_);
  test::write_file(target_ / "content", "x");
  EXPECT_THAT(error_of([&] { write_safetensors(checkpoint_, target_, DType::f32); }),
              HasSubstr("cannot be put in place"));
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(Convert, Description) {
  const Json json = Json::parse(describe_checkpoint(test::with_type(checkpoint_, DType::bf16)));
  int64_t parameters = 0;
  for (const TensorSpec& spec : expected_tensors(checkpoint_.config))
    parameters += shape_elements(spec.shape);
  EXPECT_EQ(json["parameters"], parameters);
  EXPECT_EQ(json["format"], "safetensors");
  EXPECT_EQ(json["languages"], Json({"en", "de"}));
  EXPECT_EQ(json["multilingual"], true);
  EXPECT_EQ(json["tensor_types"]["bfloat16"]["bytes"], 2 * parameters);
  EXPECT_EQ(json["alignment_heads"].size(), 2u);
  EXPECT_EQ(json["encoder"]["layers"], 2);
  EXPECT_EQ(json["vocabulary"], checkpoint_.config.vocabulary);
}

TEST(EmbeddedModel, IsComplete) {
  const Checkpoint nano = embedded_checkpoint();
  EXPECT_EQ(nano.source, "built-in nano");
  EXPECT_EQ(nano.config.width, 256);
  EXPECT_EQ(nano.config.vocabulary, 3561);
  EXPECT_EQ(nano.generation.max_initial_timestamp_index, 50);
  EXPECT_EQ(nano.generation.alignment_heads.size(), 4u);
  EXPECT_TRUE(same_checkpoint(nano, read_checkpoint(test::source_path("models/nano/nano.safetensors"))));
}

TEST(EmbeddedModel, EqualsTheFolderItWasMadeFrom) {
  const auto folder = test::shared_path("nano/hf");
  if (!folder) GTEST_SKIP() << "the folder of the nano model is not here";
  const Checkpoint original = read_checkpoint(*folder), nano = embedded_checkpoint();
  EXPECT_TRUE(same_checkpoint(original, nano));
  for (const auto& [name, tensor] : original.tensors)
    EXPECT_TRUE(std::equal(tensor.data.begin(), tensor.data.end(), nano.tensors.at(name).data.begin()))
        << name;
}

}  // namespace
}  // namespace sotto
