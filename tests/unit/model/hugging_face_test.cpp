#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/config_json.h"
#include "model/reader.h"
#include "model/safetensors.h"
#include "model/tensor_names.h"
#include "model/vocabulary.h"
#include "support/checkpoint_tools.h"
#include "support/hugging_face_folder.h"
#include "support/safetensors_bytes.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::make_random_checkpoint;
using test::same_checkpoint;
using test::small_config;
using test::write_file;
using ::testing::AllOf;
using ::testing::HasSubstr;

class HuggingFaceFolder : public ::testing::Test {
 protected:
  HuggingFaceFolder() { test::write_hugging_face_folder(checkpoint_, path_); }

  // config.json with one value changed; null takes it away.
  void change_config(const char* key, const Json& value) {
    change("config.json", config_json_text(checkpoint_), key, value);
  }
  void change_generation(const char* key, const Json& value) {
    change("generation_config.json", generation_json_text(checkpoint_), key, value);
  }

  std::string error() const {
    return error_of([&] { read_checkpoint(path_); });
  }

  test::TemporaryFolder folder_;
  fs::path path_ = folder_ / "model";
  Checkpoint checkpoint_ = make_random_checkpoint(small_config(), 3);

 private:
  void change(const char* file, const std::string& text, const char* key, const Json& value) {
    Json json = Json::parse(text);
    json[key] = value;
    write_file(path_ / file, json.dump());
  }
};

TEST_F(HuggingFaceFolder, ReadsBack) {
  const Checkpoint read = read_checkpoint(path_);
  EXPECT_TRUE(same_checkpoint(checkpoint_, read));
  EXPECT_EQ(read.format, "safetensors");
  EXPECT_EQ(read.source, path_.string());
  EXPECT_TRUE(same_checkpoint(read, read_checkpoint(path_ / "model.safetensors")));
}

TEST_F(HuggingFaceFolder, Shards) {
  fs::remove_all(path_);
  test::write_hugging_face_folder(checkpoint_, path_, 3);
  EXPECT_TRUE(same_checkpoint(checkpoint_, read_checkpoint(path_)));
  fs::remove(path_ / "model-00002-of-00003.safetensors");
  EXPECT_THAT(error(), HasSubstr("model-00002-of-00003.safetensors"));
}

TEST_F(HuggingFaceFolder, ShardsMustBeFilesOfTheFolder) {
  fs::remove(path_ / "model.safetensors");
  write_file(folder_ / "outside", test::plain_safetensors(checkpoint_.tensors));
  for (const char* name : {"../outside", "..", ".", "", "/etc/passwd", "a/b"}) {
    write_file(path_ / "model.safetensors.index.json", Json({{"weight_map", {{"model.x", name}}}}).dump());
    EXPECT_THAT(error(), HasSubstr("not a file of this folder")) << name;
  }
  write_file(path_ / "model.safetensors.index.json", "{\"weight_map\":[]}");
  EXPECT_THAT(error(), HasSubstr("weight_map"));
}

TEST_F(HuggingFaceFolder, ShardsMustKeepTheirPromises) {
  fs::remove(path_ / "model.safetensors");
  write_file(path_ / "a", test::plain_safetensors(checkpoint_.tensors));
  write_file(path_ / "b", test::plain_safetensors(checkpoint_.tensors));
  write_file(path_ / "model.safetensors.index.json", R"({"weight_map":{"absent":"a"}})");
  EXPECT_THAT(error(), AllOf(HasSubstr("'absent'"), HasSubstr("promises")));
  write_file(path_ / "model.safetensors.index.json",
             R"({"weight_map":{"model.encoder.conv1.bias":"a","model.encoder.conv2.bias":"b"}})");
  EXPECT_THAT(error(), HasSubstr("also in another file"));
}

TEST_F(HuggingFaceFolder, NamesWithoutPrefixAndStoredOutputMatrix) {
  std::map<std::string, TensorView> tensors = checkpoint_.tensors;
  tensors[kOutputMatrix] = tensors.at(kEmbedding);
  write_file(path_ / "model.safetensors", test::plain_safetensors(tensors));
  EXPECT_TRUE(same_checkpoint(checkpoint_, read_checkpoint(path_)));
  change_config("tie_word_embeddings", false);  // still the same bytes: nothing of its own
  EXPECT_FALSE(read_checkpoint(path_).tensors.contains(kOutputMatrix));
  const Shape shape = tensors.at(kEmbedding).shape;
  tensors[kOutputMatrix] =
      test::make_tensor(shape, std::vector<float>(static_cast<size_t>(shape_elements(shape)), 1.0f));
  write_file(path_ / "model.safetensors", test::plain_safetensors(tensors));
  EXPECT_TRUE(read_checkpoint(path_).tensors.contains(kOutputMatrix));
}

TEST_F(HuggingFaceFolder, GenerationSettingsOfOlderFiles) {
  fs::remove(path_ / "generation_config.json");
  change_config("suppress_tokens", Json({4, 5}));
  Checkpoint read = read_checkpoint(path_);
  EXPECT_EQ(read.generation.suppress_tokens, (std::vector<TokenId>{4, 5}));
  EXPECT_EQ(read.generation.begin_suppress_tokens, std::nullopt);
  change_generation("suppress_tokens", Json({6}));
  EXPECT_EQ(read_checkpoint(path_).generation.suppress_tokens, (std::vector<TokenId>{6}));
  change_generation("suppress_tokens", nullptr);
  EXPECT_EQ(read_checkpoint(path_).generation.suppress_tokens, (std::vector<TokenId>{4, 5}));
}

TEST_F(HuggingFaceFolder, BadConfigurations) {
  for (const char* key :
       {"d_model", "num_mel_bins", "vocab_size", "encoder_layers", "decoder_attention_heads"}) {
    for (const Json& value :
         {Json(), Json(0), Json(-5), Json(1.5), Json("8"), Json(1LL << 40), Json(~0ULL)}) {
      change_config(key, value);
      EXPECT_THAT(error(), AllOf(HasSubstr("config.json"), HasSubstr(key))) << value;
    }
  }
  change_config("encoder_layers", 3);
  EXPECT_THAT(error(), HasSubstr("encoder.layers.2"));
  change_config("model_type", "bert");
  EXPECT_THAT(error(), HasSubstr("bert"));
  change_config("activation_function", "relu");
  EXPECT_THAT(error(), HasSubstr("relu"));
  write_file(path_ / "config.json", "{");
  EXPECT_THAT(error(), HasSubstr("not valid JSON"));
}

TEST_F(HuggingFaceFolder, BadGenerationSettings) {
  for (const Json& value : {Json({-1}), Json({1'000'000}), Json({"a"}), Json(3)}) {
    change_generation("suppress_tokens", value);
    EXPECT_THAT(error(), HasSubstr("suppress_tokens")) << value;
  }
  for (const Json& value : {Json({{9, 0}}), Json({{0, 9}}), Json({{0}}), Json({3}), Json("x")}) {
    change_generation("alignment_heads", value);
    EXPECT_THAT(error(), HasSubstr("alignment_heads")) << value;
  }
  change_generation("max_initial_timestamp_index", 5000);
  EXPECT_THAT(error(), HasSubstr("max_initial_timestamp_index"));
}

TEST_F(HuggingFaceFolder, FeaturesMustBeWhispers) {
  write_file(path_ / "preprocessor_config.json", R"({"feature_size":128})");
  EXPECT_THAT(error(), HasSubstr("128"));
  write_file(path_ / "preprocessor_config.json", R"({"feature_size":80,"hop_length":128})");
  EXPECT_THAT(error(), HasSubstr("hop_length"));
}

TEST_F(HuggingFaceFolder, MissingFiles) {
  fs::remove(path_ / "tokenizer.json");
  EXPECT_THAT(error(), HasSubstr("no tokenizer"));
  EXPECT_TRUE(read_hugging_face_weights(path_).vocabulary.tokens.empty());
  fs::remove(path_ / "model.safetensors");
  EXPECT_THAT(error(), HasSubstr("no weights"));
  write_file(path_ / "pytorch_model.bin", "x");
  EXPECT_THAT(error(), HasSubstr("pytorch_model.bin"));
  fs::remove(path_ / "config.json");
  EXPECT_THAT(error(), AllOf(HasSubstr("config.json"), HasSubstr("model.bin")));
}

TEST_F(HuggingFaceFolder, OneFileNeedsItsMetadata) {
  write_file(folder_ / "bare", test::plain_safetensors(checkpoint_.tensors));
  EXPECT_THAT(error_of([&] { read_checkpoint(folder_ / "bare"); }),
              HasSubstr("no config.json in its metadata"));
}

TEST_F(HuggingFaceFolder, MicroFixtures) {
  for (const char* name : {"fixtures/micro_v2_51865", "fixtures/micro_v3_51866"}) {
    const auto path = test::shared_path(name);
    if (!path) GTEST_SKIP() << name << " is not here";
    const Checkpoint micro = read_hugging_face_weights(*path);
    EXPECT_EQ(micro.config.width, 64);
    EXPECT_FALSE(micro.tensors.contains(kOutputMatrix));
    EXPECT_THAT(error_of([&] { read_checkpoint(*path); }), HasSubstr("no tokenizer"));
  }
}

class WrongFile : public ::testing::Test {
 protected:
  std::string error_for(std::string_view content) {
    write_file(folder_ / "file", content);
    return error_of([&] { read_checkpoint(folder_ / "file"); });
  }
  test::TemporaryFolder folder_;
};

TEST_F(WrongFile, SaysWhatItIs) {
  EXPECT_THAT(error_for(""), HasSubstr("is empty"));
  EXPECT_THAT(error_for("\n <!DOCTYPE HTML><html>"), HasSubstr("web page"));
  EXPECT_THAT(error_for("<html lang=en>"), HasSubstr("web page"));
  EXPECT_THAT(error_for("version https://git-lfs.github.com/spec/v1\noid sha256:0"),
              HasSubstr("Git LFS pointer"));
  EXPECT_THAT(error_for("GGUF\3"), HasSubstr("GGUF"));
  EXPECT_THAT(error_for("RIFF...."), HasSubstr("no model that Sotto knows"));
  EXPECT_THAT(error_for("x"), HasSubstr("no model that Sotto knows"));
  EXPECT_THAT(error_of([&] { read_checkpoint(folder_ / "absent"); }), HasSubstr("no such file"));
  EXPECT_THAT(error_of([&] { read_checkpoint(folder_.path()); }), HasSubstr("holds no model"));
}

}  // namespace
}  // namespace sotto
