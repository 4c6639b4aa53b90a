#include "model/ctranslate2.h"

#include <cmath>

#include <gmock/gmock.h>

#include "model/ctranslate2_file.h"
#include "support/checkpoint_tools.h"
#include "support/ctranslate2_writer.h"

namespace sotto::test {
namespace {

using ::testing::HasSubstr;

// What the format cannot hold.
Checkpoint small_checkpoint() {
  Checkpoint checkpoint = make_random_checkpoint(small_config(), 11);
  checkpoint.generation.max_initial_timestamp_index.reset();
  return checkpoint;
}

Ctranslate2Texts texts_of(const Checkpoint& checkpoint) {
  Ctranslate2Texts texts;
  texts.config_json = ctranslate2_config_json(checkpoint.generation);
  texts.tokenizer_json =
      ctranslate2_vocabulary_text(checkpoint.vocabulary, Ctranslate2Vocabulary::tokenizer_json);
  return texts;
}

Checkpoint read(std::vector<std::byte> bytes, const Checkpoint& original) {
  return read_ctranslate2({"folder/model.bin", memory_region(std::move(bytes))}, "folder",
                          texts_of(original));
}

std::string read_error(std::vector<std::byte> bytes) {
  return error_of([&] { read(std::move(bytes), small_checkpoint()); });
}

template <class Number>
std::vector<std::byte> patched(std::vector<std::byte> bytes, size_t offset, Number value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  return bytes;
}

// Just behind a variable's name: rank, dimensions, type, length.
size_t behind_name(const std::vector<std::byte>& bytes, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.find(std::string(name) + '\0') + name.size() + 1;
}

TEST(Ctranslate2, Float32IsExactInEveryFormOfVocabulary) {
  for (const auto form : {Ctranslate2Vocabulary::tokenizer_json, Ctranslate2Vocabulary::vocabulary_json,
                          Ctranslate2Vocabulary::vocabulary_txt}) {
    Checkpoint original = small_checkpoint();
    const TemporaryFolder folder;
    write_ctranslate2_folder(folder.path(), original, DType::f32, form);
    if (form != Ctranslate2Vocabulary::tokenizer_json) original.vocabulary.merges.clear();
    const Checkpoint read_back = read_ctranslate2_folder(folder.path());
    EXPECT_TRUE(same_checkpoint(original, read_back));
    EXPECT_EQ(read_back.format, "ctranslate2");
  }
}

TEST(Ctranslate2, Float16IsExact) {
  const Checkpoint original = with_type(small_checkpoint(), DType::f16);
  EXPECT_TRUE(same_checkpoint(original, read(write_ctranslate2_model(original, DType::f16).bytes, original)));
}

TEST(Ctranslate2, Int8IsWithinHalfAStepOfItsRow) {
  const Checkpoint original = small_checkpoint();
  const Checkpoint quantised = read(write_ctranslate2_model(original, DType::i8).bytes, original);
  EXPECT_EQ(quantised.tensors.at("encoder.layers.0.self_attn.v_proj.weight").dtype, DType::i8);
  for (const auto& [name, tensor] : original.tensors) {
    const auto rows = static_cast<size_t>(tensor.shape.size() < 2 ? tensor.shape.front() : tensor.rows());
    const std::vector<float> exact = read_all(tensor), values = read_all(quantised.tensors.at(name));
    const size_t columns = exact.size() / rows;
    for (size_t row = 0; row < rows; ++row) {
      float largest = 0;
      for (size_t i = 0; i < columns; ++i) largest = std::max(largest, std::fabs(exact[row * columns + i]));
      for (size_t i = row * columns; i < (row + 1) * columns; ++i)
        ASSERT_NEAR(exact[i], values[i], largest / 127 * 0.501f) << name;
    }
  }
}

TEST(Ctranslate2, AnOutputMatrixOfItsOwnIsKept) {
  Checkpoint original = small_checkpoint();
  original.tensors["proj_out.weight"] = original.tensors.at("decoder.embed_tokens.weight");
  for (const DType type : {DType::f32, DType::i8})
    EXPECT_TRUE(
        read(write_ctranslate2_model(original, type).bytes, original).tensors.contains("proj_out.weight"));
  EXPECT_TRUE(same_checkpoint(original, read(write_ctranslate2_model(original, DType::f32).bytes, original)));
}

TEST(Ctranslate2, MissingTimestampNamesAreFilledIn) {
  Checkpoint original = small_checkpoint();
  original.vocabulary.merges.clear();
  Vocabulary without = original.vocabulary;
  without.tokens.resize(271);
  without.special.resize(271);
  Ctranslate2Texts texts;
  texts.config_json = ctranslate2_config_json(original.generation);
  texts.vocabulary_txt = ctranslate2_vocabulary_text(without, Ctranslate2Vocabulary::vocabulary_txt);
  const auto bytes = write_ctranslate2_model(original, DType::f32).bytes;
  EXPECT_TRUE(
      same_checkpoint(original, read_ctranslate2({"model.bin", memory_region(bytes)}, "folder", texts)));
}

TEST(Ctranslate2, CutAtAnyBoundaryGivesOneSentence) {
  const WrittenFile file = write_ctranslate2_model(small_checkpoint(), DType::i8);
  for (const size_t boundary : file.boundaries) {
    if (boundary == file.bytes.size()) continue;
    for (const size_t length : {boundary - 1, boundary})
      ASSERT_THAT(
          error_of([&] {
            parse_ctranslate2_file(
                {"model.bin", memory_region({file.bytes.begin(),
                                             file.bytes.begin() + static_cast<std::ptrdiff_t>(length)})});
          }),
          ::testing::StartsWith("model.bin: at offset "))
          << "cut to " << length;
  }
}

TEST(Ctranslate2, RefusesOtherVersionsKindsAndTypes) {
  const auto good = write_ctranslate2_model(small_checkpoint(), DType::f32).bytes;
  EXPECT_THAT(read_error(to_bytes("<!DOCTYPE html><html>")), HasSubstr("binary version"));
  EXPECT_THAT(read_error(patched(good, 0, uint32_t{5})), HasSubstr("binary version should be 6, but is 5"));
  EXPECT_THAT(read_error(patched(good, 6, 'X')), HasSubstr("XhisperSpec"));
  auto longer = good;
  longer.push_back(std::byte{0});
  EXPECT_THAT(read_error(longer), HasSubstr("1 bytes follow"));

  const size_t bias = behind_name(good, "encoder/conv1/bias");  // rank, one dimension, type, length
  EXPECT_THAT(read_error(patched(good, bias, uint8_t{200})), HasSubstr("200 dimensions"));
  EXPECT_THAT(read_error(patched(good, bias + 1, uint32_t{0xffffffff})), HasSubstr("cannot have 256 bytes"));
  EXPECT_THAT(read_error(patched(good, bias + 5, uint8_t{6})), HasSubstr("unknown type 6"));
  EXPECT_THAT(read_error(patched(good, bias + 5, uint8_t{3})), HasSubstr("not supported"));
  EXPECT_THAT(read_error(patched(good, bias + 6, uint32_t{0xfffffffc})), HasSubstr("cannot have"));
}

TEST(Ctranslate2, RefusesScaledEmbeddingsAndImpossibleHeads) {
  const auto good = write_ctranslate2_model(small_checkpoint(), DType::f32).bytes;
  const size_t scale = behind_name(good, "decoder/scale_embeddings") + 1 + 1 + 4;  // rank, type, length
  EXPECT_THAT(read_error(patched(good, scale, int8_t{1})), HasSubstr("scaled"));
  const size_t heads = behind_name(good, "encoder/num_heads") + 1 + 1 + 4;
  for (const int16_t value : {0, -3, 3, 30000})
    EXPECT_THAT(read_error(patched(good, heads, value)), HasSubstr("encoder heads"));
}

TEST(Ctranslate2, NamesMissingForeignAndDuplicateVariables) {
  const auto good = write_ctranslate2_model(small_checkpoint(), DType::f32).bytes;
  const auto renamed = [&](std::string_view from, std::string_view to) {
    auto bytes = good;
    const size_t at = behind_name(bytes, from) - from.size() - 1;
    std::memcpy(bytes.data() + at, to.data(), to.size());
    return bytes;
  };
  EXPECT_THAT(read_error(renamed("encoder/conv2/bias", "encoder/conv2/bla?")),
              HasSubstr("'encoder/conv2/bias' is missing"));
  EXPECT_THAT(read_error(renamed("encoder/conv2/bias", "encoder/conv1/bias")), HasSubstr("occurs twice"));
  EXPECT_THAT(
      read_error(renamed("decoder/layer_2/ffn/linear_0/weight", "decoder/layer_9/ffn/linear_0/weight")),
      HasSubstr("is no part of a Whisper network"));
}

TEST(Ctranslate2, RefusesBadTexts) {
  const Checkpoint original = small_checkpoint();
  const auto bytes = write_ctranslate2_model(original, DType::f32).bytes;
  const auto error_with = [&](auto change) {
    Ctranslate2Texts texts = texts_of(original);
    change(texts);
    return error_of([&] { read_ctranslate2({"folder/model.bin", memory_region(bytes)}, "folder", texts); });
  };
  EXPECT_THAT(error_with([](auto& texts) { texts.config_json = "{"; }), HasSubstr("folder/config.json"));
  EXPECT_THAT(error_with([](auto& texts) { texts.config_json = R"({"alignment_heads": [[99, 0]]})"; }),
              HasSubstr("alignment_heads"));
  EXPECT_THAT(error_with([](auto& texts) { texts.config_json = R"({"suppress_ids": ["a"]})"; }),
              HasSubstr("folder/config.json"));
  EXPECT_THAT(error_with([](auto& texts) { texts.tokenizer_json.clear(); }), HasSubstr("vocabulary.json"));
  EXPECT_THAT(error_with([](auto& texts) {
                texts.tokenizer_json.clear();
                texts.vocabulary_json = R"({"a": 1})";
              }),
              HasSubstr("list of tokens"));
  EXPECT_THAT(error_with([](auto& texts) {
                texts.tokenizer_json.clear();
                texts.vocabulary_txt = std::string(5000, '\n');
              }),
              HasSubstr("5000 tokens"));
}

TEST(Ctranslate2, AFolderWithoutTheModelSaysSo) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read_ctranslate2_folder(folder.path()); }), HasSubstr("model.bin"));
}

}  // namespace
}  // namespace sotto::test
