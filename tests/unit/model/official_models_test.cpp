#include "model/official_models.h"

#include <set>

#include <gmock/gmock.h>

#include "model/openai_names.h"
#include "model/tensor_names.h"
#include "support/checkpoint_tools.h"
#include "support/openai_tensor_names.h"

namespace sotto::test {
namespace {

ModelConfig sizes(int width, int encoder_layers, int decoder_layers, int vocabulary) {
  ModelConfig config;
  config.width = width;
  config.encoder_layers = encoder_layers;
  config.decoder_layers = decoder_layers;
  config.vocabulary = vocabulary;
  return config;
}

TEST(OfficialModels, AreFoundBySizeAndTheTwinsByName) {
  EXPECT_EQ(find_official_model(sizes(384, 4, 4, 51864), "x.pt")->name, "tiny.en");
  EXPECT_EQ(find_official_model(sizes(1280, 32, 4, 51866), "x.pt")->name, "large-v3-turbo");
  EXPECT_EQ(find_official_model(sizes(1280, 32, 32, 51866), "ggml-large-v3.bin")->name, "large-v3");
  EXPECT_EQ(find_official_model(sizes(1280, 32, 32, 51865), "ggml-large-v1.bin")->name, "large-v1");
  EXPECT_EQ(find_official_model(sizes(1280, 32, 32, 51865), "large.pt")->name, "large-v2");
  EXPECT_EQ(find_official_model(sizes(256, 8, 4, 3561), "nano"), nullptr);
}

TEST(OfficialModels, AlignmentHeadsLieInsideTheNetwork) {
  for (const int vocabulary : {51864, 51865, 51866})
    for (const auto& [width, encoder, decoder] :
         {std::tuple{384, 4, 4}, {512, 6, 6}, {768, 12, 12}, {1024, 24, 24}, {1280, 32, 32}, {1280, 32, 4}}) {
      const OfficialModel* model = find_official_model(sizes(width, encoder, decoder, vocabulary), "");
      if (model == nullptr) continue;
      EXPECT_FALSE(model->alignment_heads.empty());
      for (const auto& [layer, head] : model->alignment_heads) {
        EXPECT_LT(layer, decoder) << model->name;
        EXPECT_LT(head, width / 64) << model->name;
      }
    }
}

TEST(SpecialTokens, StandInTheOfficialOrder) {
  const auto codes = standard_language_codes();
  ASSERT_EQ(codes.size(), 100u);
  EXPECT_EQ(std::set<std::string_view>(codes.begin(), codes.end()).size(), 100u);
  EXPECT_EQ(codes[0], "en");
  EXPECT_EQ(codes[2], "de");
  EXPECT_EQ(codes[98], "su");
  EXPECT_EQ(codes[99], "yue");
  // Ids of the multilingual releases before large-v3, whose <|endoftext|> is 50257.
  const auto names = standard_special_tokens(99);
  EXPECT_EQ(names.size(), 51865u - 50257u);
  EXPECT_EQ(names[50258 - 50257], "<|startoftranscript|>");
  EXPECT_EQ(names[50259 - 50257], "<|en|>");
  EXPECT_EQ(names[50358 - 50257], "<|translate|>");
  EXPECT_EQ(names[50359 - 50257], "<|transcribe|>");
  EXPECT_EQ(names[50362 - 50257], "<|nospeech|>");
  EXPECT_EQ(names[50363 - 50257], "<|notimestamps|>");
  EXPECT_EQ(names[50364 - 50257], "<|0.00|>");
  EXPECT_EQ(names[50365 - 50257], "<|0.02|>");
}

TEST(SpecialTokens, MissingNamesAreFilledInAndOthersKept) {
  const Vocabulary complete = small_vocabulary();  // its second language is not the standard one
  Vocabulary vocabulary = complete;
  for (size_t i = 271; i < vocabulary.tokens.size(); ++i) vocabulary.tokens[i].clear();
  name_missing_special_tokens(vocabulary);
  EXPECT_EQ(vocabulary, complete);
}

TEST(OpenAiNames, CoverTheWholeNetwork) {
  for (const TensorSpec& spec : expected_tensors(small_config()))
    EXPECT_EQ(checkpoint_name_from_openai(openai_name(spec.name)), spec.name);
  for (const char* foreign :
       {"", "decoder.blocks.0", "decoder.blocks.0.attn", "decoder.blocks.x.attn.key.weight",
        "middle.blocks.0.attn.key.weight", "decoder.blocks.0.attn.key.scale", ".blocks."})
    EXPECT_EQ(checkpoint_name_from_openai(foreign), std::nullopt) << foreign;
}

}  // namespace
}  // namespace sotto::test
