#include <gmock/gmock.h>

#include "model/openai_vocabulary.h"
#include "model/reader.h"
#include "model/vocabulary.h"
#include "support/checkpoint_tools.h"
#include "support/openai_tensor_names.h"
#include "support/openai_writer.h"
#include "support/zip_writer.h"

namespace sotto::test {
namespace {

using ::testing::HasSubstr;

// What the format cannot hold.
Checkpoint small_checkpoint() {
  Checkpoint checkpoint = make_random_checkpoint(small_config(), 23);
  checkpoint.generation = {};
  return checkpoint;
}

std::string tokenizer_of(const Checkpoint& checkpoint) {
  return tokenizer_json_from_vocabulary(checkpoint.vocabulary, "a test");
}

Checkpoint read(std::vector<std::byte> bytes, const std::filesystem::path& folder = "/nowhere") {
  return read_openai({"small.pt", memory_region(std::move(bytes))}, folder);
}

std::string read_error(std::vector<std::byte> bytes) {
  return error_of([&] { read(std::move(bytes)); });
}

// An archive whose tensors are as the checkpoint's but for what `change` does to their descriptions.
template <class Change>
std::vector<std::byte> with_changed_tensors(Change change) {
  const Checkpoint checkpoint = small_checkpoint();
  std::vector<PickledTensor> tensors;
  ZipWriter zip;
  for (const auto& [name, tensor] : checkpoint.tensors) {
    tensors.push_back(
        contiguous_tensor(openai_name(name), DType::f32, tensor.shape, std::to_string(tensors.size())));
    zip.add("small/data/" + tensors.back().key, tensor.data);
  }
  change(tensors);
  zip.add("small/data.pkl", write_openai_pickle(checkpoint.config, tensors, tokenizer_of(checkpoint)).bytes);
  return zip.finish().bytes;
}

PickledTensor& named(std::vector<PickledTensor>& tensors, std::string_view name) {
  for (PickledTensor& tensor : tensors)
    if (tensor.name == name) return tensor;
  throw std::logic_error("no such tensor");
}

TEST(OpenAi, EveryFloatTypeIsExact) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    const Checkpoint original = with_type(small_checkpoint(), type);
    const Checkpoint read_back = read(write_openai(original, {type, tokenizer_of(original)}).bytes);
    EXPECT_TRUE(same_checkpoint(original, read_back)) << dtype_name(type);
    EXPECT_EQ(read_back.tensors.at("decoder.embed_tokens.weight").dtype, type);
    EXPECT_EQ(read_back.format, "openai");
  }
}

TEST(OpenAi, TheVocabularyIsFoundBesideTheFile) {
  const Checkpoint original = small_checkpoint();
  const auto bytes = write_openai(original, {DType::f32, ""}).bytes;
  const TemporaryFolder folder;
  EXPECT_THAT(error_of([&] { read(bytes, folder.path()); }),
              ::testing::AllOf(HasSubstr("small.pt"), HasSubstr("place tokenizer.json")));
  write_file(folder / "tokenizer.json", tokenizer_of(original));
  EXPECT_TRUE(same_checkpoint(original, read(bytes, folder.path())));
}

TEST(OpenAi, TiktokenFilesAreReadFromTheFolderAndFromAssets) {
  Checkpoint original = small_checkpoint();
  original.vocabulary.merges.clear();
  original.vocabulary.tokens = {"a", "\xff\x00z", ""};
  original.vocabulary.tokens[1] = std::string("\xff\x00z", 3);
  original.vocabulary.special.assign(3, false);
  const int size = original.config.vocabulary;
  const char* text = "YQ== 0\n/wB6 1\n= 2\n";
  const Vocabulary vocabulary = vocabulary_from_tiktoken(text, "gpt2.tiktoken", size);
  EXPECT_EQ(vocabulary.tokens[1], original.vocabulary.tokens[1]);
  EXPECT_EQ(vocabulary.tokens[2], "");
  EXPECT_EQ(vocabulary.tokens[3], "<|endoftext|>");
  EXPECT_FALSE(vocabulary.special[2]);
  EXPECT_TRUE(vocabulary.special[3]);

  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "assets");
  std::filesystem::create_directories(folder / "models");
  write_file(folder / "assets" / "gpt2.tiktoken", text);
  EXPECT_EQ(find_openai_vocabulary(folder / "models", "small.pt", size), vocabulary);

  for (const char* bad : {"YQ== 1\n", "YQ==\n", "Y*== 0\n", "YQ== 0x\n", "YQ== 0 0\n"})
    EXPECT_THAT(error_of([&] { vocabulary_from_tiktoken(bad, "t", size); }), HasSubstr("t: line 1"));
  EXPECT_THAT(error_of([&] { vocabulary_from_tiktoken("YQ== 0\n", "t", 1); }), HasSubstr("has 1 tokens"));
}

TEST(OpenAi, CutAtAnyBoundaryGivesOneSentence) {
  const Checkpoint original = small_checkpoint();
  const WrittenFile file = write_openai(original, {DType::f16, tokenizer_of(original)});
  for (const size_t boundary : file.boundaries) {
    if (boundary == file.bytes.size()) continue;
    ASSERT_THAT(read_error({file.bytes.begin(), file.bytes.begin() + static_cast<std::ptrdiff_t>(boundary)}),
                ::testing::StartsWith("small.pt: "));
  }
}

TEST(OpenAi, RefusesOtherArchives) {
  EXPECT_FALSE(looks_like_openai(to_bytes("<html>")));
  EXPECT_TRUE(looks_like_openai(write_openai(small_checkpoint(), {}).bytes));
  ZipWriter zip;
  zip.add("word/document.xml", to_bytes("<xml>"));
  EXPECT_THAT(read_error(zip.finish().bytes), HasSubstr("no PyTorch checkpoint"));
  ZipWriter other;
  other.add("a/data.pkl", to_bytes("\x80\x02}."));
  EXPECT_THAT(read_error(other.finish().bytes), HasSubstr("'dims' is missing"));
  ZipWriter list;
  list.add("a/data.pkl", to_bytes("\x80\x02]."));
  EXPECT_THAT(read_error(list.finish().bytes), HasSubstr("no dict"));
  ZipWriter harmful;
  harmful.add("a/data.pkl", to_bytes("\x80\x02"
                                     "cos\nsystem\n)R."));
  EXPECT_THAT(read_error(harmful.finish().bytes),
              ::testing::AllOf(HasSubstr("small.pt (data.pkl)"), HasSubstr("'os.system'")));
  ZipWriter big_endian;
  big_endian.add("a/data.pkl", to_bytes("\x80\x02}."));
  big_endian.add("a/byteorder", to_bytes("big"));
  EXPECT_THAT(read_error(big_endian.finish().bytes), HasSubstr("little-endian"));
}

TEST(OpenAi, RefusesBadTensors) {
  constexpr const char* kName = "decoder.blocks.1.mlp.0.weight";
  using Tensors = std::vector<PickledTensor>;
  const auto error_after = [&](auto change) { return read_error(with_changed_tensors(change)); };
  EXPECT_EQ(read(with_changed_tensors([](Tensors&) {})).config, small_config());
  EXPECT_THAT(
      error_after([](Tensors& t) { std::swap(named(t, kName).strides[0], named(t, kName).strides[1]); }),
      HasSubstr("row-major"));
  EXPECT_THAT(error_after([](Tensors& t) { named(t, kName).offset = 1; }), HasSubstr("does not fit"));
  EXPECT_THAT(error_after([](Tensors& t) { named(t, kName).offset = INT64_MAX; }), HasSubstr("does not fit"));
  EXPECT_THAT(error_after([](Tensors& t) { named(t, kName).key = "999"; }), HasSubstr("'999' is missing"));
  EXPECT_THAT(error_after([](Tensors& t) { named(t, kName).storage_elements += 1; }), HasSubstr("values"));
  EXPECT_THAT(error_after([](Tensors& t) {
                named(t, kName).shape = {INT64_MAX, INT64_MAX};
              }),
              HasSubstr(kName));
  EXPECT_THAT(error_after([](Tensors& t) { named(t, kName).shape = named(t, kName).strides = {}; }),
              HasSubstr("decoder.layers.1.fc1.weight"));
  EXPECT_THAT(error_after([](Tensors& t) { named(t, kName).name = "decoder.strange"; }),
              HasSubstr("no part"));
  EXPECT_THAT(error_after([](Tensors& t) { t.push_back(t.front()); }), HasSubstr("occurs twice"));
  EXPECT_THAT(error_after([](Tensors& t) { t.pop_back(); }), HasSubstr("is missing"));
}

TEST(OpenAi, RefusesAbsurdSizes) {
  for (int ModelConfig::*size : {&ModelConfig::vocabulary, &ModelConfig::width, &ModelConfig::encoder_layers,
                                 &ModelConfig::decoder_heads, &ModelConfig::audio_positions})
    for (const int value : {0, -1, 1 << 23, INT32_MAX}) {
      Checkpoint checkpoint = small_checkpoint();
      checkpoint.config.*size = value;
      EXPECT_THAT(read_error(write_openai(checkpoint, {DType::f16, "{}"}).bytes),
                  ::testing::StartsWith("small.pt: "));
    }
}

}  // namespace
}  // namespace sotto::test
