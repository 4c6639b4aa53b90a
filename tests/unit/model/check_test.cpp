#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/reader.h"
#include "model/tensor_names.h"
#include "support/checkpoint_tools.h"

namespace sotto {
namespace {

using test::error_of;
using test::make_random_checkpoint;
using test::make_tensor;
using test::small_config;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Check : public ::testing::Test {
 protected:
  std::string error() const {
    return error_of([&] { check_checkpoint(checkpoint_); });
  }
  Checkpoint checkpoint_ = make_random_checkpoint(small_config(), 1);
};

TEST_F(Check, AcceptsACompleteModel) {
  EXPECT_NO_THROW(check_checkpoint(checkpoint_));
  checkpoint_.tensors["something.else"] = make_tensor({1}, {0.0f});
  EXPECT_NO_THROW(check_checkpoint(checkpoint_));
}

TEST_F(Check, NamesEachMissingTensor) {
  for (const TensorSpec& spec : expected_tensors(checkpoint_.config)) {
    const auto taken = checkpoint_.tensors.extract(spec.name);
    EXPECT_THAT(error(), AllOf(HasSubstr(spec.name), HasSubstr("missing")));
    Checkpoint& whole = checkpoint_;
    whole.tensors.emplace(taken.key(), taken.mapped());
  }
}

TEST_F(Check, NamesAWrongShape) {
  checkpoint_.tensors["decoder.layers.1.fc1.bias"] = make_tensor({3}, {1, 2, 3});
  EXPECT_THAT(error(), AllOf(HasSubstr("decoder.layers.1.fc1.bias"), HasSubstr("[3]"), HasSubstr("[160]")));
}

TEST_F(Check, OutputMatrixMayBeThereButMustFit) {
  checkpoint_.tensors[kOutputMatrix] = checkpoint_.tensors.at(kEmbedding);
  EXPECT_NO_THROW(check_checkpoint(checkpoint_));
  checkpoint_.tensors[kOutputMatrix] = make_tensor({1, 2}, {1, 2});
  EXPECT_THAT(error(), HasSubstr(kOutputMatrix));
}

TEST_F(Check, QuantisedBiasesAndScales) {
  TensorView& bias = checkpoint_.tensors["encoder.conv1.bias"];
  const TensorView kept = bias;
  bias.dtype = DType::i8;
  EXPECT_THAT(error(), HasSubstr("cannot be quantised"));
  bias = kept;
  TensorView& matrix = checkpoint_.tensors["encoder.layers.0.fc1.weight"];
  matrix.dtype = DType::i8;
  matrix.data = matrix.data.first(static_cast<size_t>(matrix.elements()));
  EXPECT_THAT(error(), HasSubstr("has 0 scales"));
  matrix.scales = matrix.data.first(4);
  EXPECT_NO_THROW(check_checkpoint(checkpoint_));
}

TEST_F(Check, TensorWithTooFewBytes) {
  TensorView& tensor = checkpoint_.tensors["encoder.conv2.weight"];
  tensor.data = tensor.data.first(10);
  EXPECT_THAT(error(), HasSubstr("has 10 bytes"));
}

TEST_F(Check, AbsurdSizes) {
  const ModelConfig good = checkpoint_.config;
  for (int ModelConfig::*size :
       {&ModelConfig::mel_bins, &ModelConfig::audio_positions, &ModelConfig::text_positions,
        &ModelConfig::width, &ModelConfig::vocabulary, &ModelConfig::encoder_layers,
        &ModelConfig::encoder_heads, &ModelConfig::encoder_ffn, &ModelConfig::decoder_layers,
        &ModelConfig::decoder_heads, &ModelConfig::decoder_ffn})
    for (const int value : {0, -1, 2'000'000'000}) {
      checkpoint_.config = good;
      checkpoint_.config.*size = value;
      EXPECT_THAT(error(), HasSubstr("not between 1 and")) << value;
    }
  checkpoint_.config = good;
  checkpoint_.config.encoder_heads = 3;
  EXPECT_THAT(error(), HasSubstr("does not divide"));
}

TEST_F(Check, VocabularyAndGeneration) {
  checkpoint_.generation.suppress_tokens = {checkpoint_.config.vocabulary};
  EXPECT_THAT(error(), HasSubstr("outside the vocabulary"));
  checkpoint_.generation.suppress_tokens.reset();
  checkpoint_.generation.alignment_heads = {{0, 5}};
  EXPECT_THAT(error(), HasSubstr("alignment head 5"));
  checkpoint_.generation.alignment_heads.clear();
  checkpoint_.vocabulary.tokens.pop_back();
  EXPECT_THAT(error(), HasSubstr("vocabulary has"));
  EXPECT_NO_THROW(check_weights(checkpoint_));
}

TEST(ExpectedTensors, CountsOfTheRealSizes) {
  ModelConfig tiny{80, 1500, 448, 384, 51865, 4, 6, 1536, 4, 6, 1536};
  const auto specs = expected_tensors(tiny);
  int64_t parameters = 0;
  for (const TensorSpec& spec : specs) parameters += shape_elements(spec.shape);
  EXPECT_EQ(specs.size(), 167u);
  EXPECT_EQ(parameters, 37'760'640);
}

}  // namespace
}  // namespace sotto
