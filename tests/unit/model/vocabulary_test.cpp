#include "model/vocabulary.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/json_text.h"
#include "model/safetensors.h"
#include "support/checkpoint_tools.h"

namespace sotto {
namespace {

using test::error_of;
using test::small_vocabulary;
using ::testing::HasSubstr;

TEST(ByteLevel, EveryByteThereAndBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  EXPECT_EQ(bytes_from_byte_level(byte_level_from_bytes(all), "test"), all);
  EXPECT_EQ(byte_level_from_bytes(" a\n"), "\u0120a\u010a");
  EXPECT_EQ(byte_level_from_bytes("\xad"), "\u0143");
}

TEST(ByteLevel, RefusesOtherCharacters) {
  for (const std::string_view bad : {" ", "\u0144", "\u20ac", "\xc4", "\xc4z", "\xc1\xa1", "\xff", "\n"})
    EXPECT_THAT(error_of([&] { bytes_from_byte_level(bad, "here"); }), HasSubstr("here")) << bad;
}

Vocabulary from_tokenizer(std::string_view model, std::string_view added, int size) {
  return vocabulary_from_tokenizer_json(fmt::format(R"({{"added_tokens":{},"model":{}}})", added, model),
                                        "tok", size);
}

TEST(TokenizerJson, VocabularyMergesAndAddedTokens) {
  const Vocabulary vocabulary = from_tokenizer(
      R"({"type":"BPE","vocab":{"a":0,"Ġ":1,"Ġa":2,"<|endoftext|>":3},"merges":["Ġ a"]})",
      R"([{"id":3,"content":"<|endoftext|>","special":true},{"id":5,"content":"<|0.00|>","special":false},)"
      R"({"id":6,"content":"new word","special":false}])",
      7);
  EXPECT_EQ(vocabulary.tokens,
            (std::vector<std::string>{"a", " ", " a", "<|endoftext|>", "", "<|0.00|>", "new word"}));
  EXPECT_EQ(vocabulary.special, (std::vector<bool>{false, false, false, true, true, true, false}));
  ASSERT_EQ(vocabulary.merges.size(), 1u);
  EXPECT_EQ(vocabulary.merges[0], (std::pair<std::string, std::string>{" ", "a"}));
}

TEST(TokenizerJson, BothSpellingsOfMerges) {
  const auto words = from_tokenizer(R"({"vocab":{"a":0},"merges":["Ġ a"]})", "[]", 1);
  const auto pairs = from_tokenizer(R"({"vocab":{"a":0},"merges":[["Ġ","a"]]})", "[]", 1);
  EXPECT_EQ(words, pairs);
}

TEST(TokenizerJson, WritesWhatItReads) {
  const Vocabulary vocabulary = small_vocabulary();
  const std::string text = tokenizer_json_from_vocabulary(vocabulary, "test");
  EXPECT_EQ(vocabulary_from_tokenizer_json(text, "tok", static_cast<int>(vocabulary.tokens.size())),
            vocabulary);
}

TEST(TokenizerJson, RefusesToWriteTwoTokensOfTheSameBytes) {
  Vocabulary vocabulary = small_vocabulary();
  vocabulary.tokens[1] = vocabulary.tokens[0];
  EXPECT_THAT(error_of([&] { tokenizer_json_from_vocabulary(vocabulary, "test"); }), HasSubstr("same bytes"));
}

TEST(TokenizerJson, BadFiles) {
  const auto error = [](std::string_view model, std::string_view added = "[]") {
    return error_of([&] { from_tokenizer(model, added, 3); });
  };
  EXPECT_THAT(error("7"), HasSubstr("no 'vocab'"));
  EXPECT_THAT(error(R"({"vocab":[],"merges":[]})"), HasSubstr("no 'vocab'"));
  EXPECT_THAT(error(R"({"vocab":{}})"), HasSubstr("no 'merges'"));
  EXPECT_THAT(error(R"({"vocab":{},"vocab":{},"merges":[]})"), HasSubstr("'vocab' occurs twice"));
  EXPECT_THAT(error(R"({"type":"Unigram","vocab":{},"merges":[]})"), HasSubstr("BPE"));
  EXPECT_THAT(error(R"({"vocab":{"a":3},"merges":[]})"), HasSubstr("id 3"));
  EXPECT_THAT(error(R"({"vocab":{"a":-1},"merges":[]})"), HasSubstr("no valid id"));
  EXPECT_THAT(error(R"({"vocab":{"a":"b"},"merges":[]})"), HasSubstr("no valid id"));
  EXPECT_THAT(error(R"({"vocab":{"a":{}},"merges":[]})"), HasSubstr("no valid id"));
  EXPECT_THAT(error(R"({"vocab":{"a":1,"b":1},"merges":[]})"), HasSubstr("two different tokens"));
  EXPECT_THAT(error(R"({"vocab":{"a b":1},"merges":[]})"), HasSubstr("stands for no byte"));
  for (const char* merge :
       {"\"ab\"", "\"a b c\"", "\" a\"", "\"a \"", "[\"a\"]", "[\"a\",1]", "1", "{}", "[[]]"})
    EXPECT_THAT(error(fmt::format(R"({{"vocab":{{}},"merges":[{}]}})", merge)), HasSubstr("pair of tokens"))
        << merge;
  EXPECT_THAT(error(R"({"vocab":{},"merges":[]})", R"([{"id":1}])"), HasSubstr("lacks its id or content"));
  EXPECT_THAT(error(R"({"vocab":{},"merges":[]})", "[1]"), HasSubstr("not an object"));
  EXPECT_THAT(error_of([] { vocabulary_from_tokenizer_json("[]", "tok", 3); }), HasSubstr("JSON object"));
  EXPECT_THAT(error_of([] { vocabulary_from_tokenizer_json("{", "tok", 3); }), HasSubstr("not valid JSON"));
  EXPECT_THAT(
      error_of([] { vocabulary_from_tokenizer_json("{\"a\":" + std::string(100000, '['), "tok", 3); }),
      HasSubstr("nested"));
}

TEST(VocabAndMerges, HeadingAndLineEnds) {
  const Vocabulary vocabulary = vocabulary_from_vocab_and_merges(
      R"({"a":0,"Ġ":1})", "#version: 0.2\r\nĠ a\r\n# a\n\na a", R"({"<|en|>":2})", "vocab", 3);
  EXPECT_EQ(vocabulary.tokens, (std::vector<std::string>{"a", " ", "<|en|>"}));
  EXPECT_EQ(vocabulary.special, (std::vector<bool>{false, false, true}));
  ASSERT_EQ(vocabulary.merges.size(), 3u);
  EXPECT_EQ(vocabulary.merges[1].first, "#");
}

TEST(VocabAndMerges, BadFiles) {
  const auto error = [](std::string_view vocab, std::string_view merges, std::string_view added) {
    return error_of([&] { vocabulary_from_vocab_and_merges(vocab, merges, added, "vocab", 3); });
  };
  EXPECT_THAT(error("[]", "", ""), HasSubstr("JSON object"));
  EXPECT_THAT(error(R"({"a":9})", "", ""), HasSubstr("id 9"));
  EXPECT_THAT(error(R"({"a":0,"a":1})", "", ""), HasSubstr("occurs twice"));
  EXPECT_THAT(error("{}", "ab", ""), HasSubstr("pair of tokens"));
  EXPECT_THAT(error("{}", "", R"({"x":1.5})"), HasSubstr("whole number"));
}

// The embedded model's tokenizer.json, taken apart into the older files, is the same vocabulary.
TEST(VocabAndMerges, EqualTheTokenizerJsonOfNano) {
  const std::string path = test::source_path("models/nano/nano.safetensors").string();
  const SafetensorsContent content = read_safetensors({path, map_file(path)});
  const std::string& text = content.metadata.at("tokenizer.json");
  const Vocabulary expected = vocabulary_from_tokenizer_json(text, "tokenizer.json", 3561);
  const Json file = parse_json_object(text, "tokenizer.json");
  Json added = Json::object();
  for (const Json& token : file["added_tokens"]) added[token["content"].get<std::string>()] = token["id"];
  std::string merges = "#version: 0.2\n";
  for (const Json& merge : file["model"]["merges"])
    merges += merge[0].get<std::string>() + " " + merge[1].get<std::string>() + "\n";
  EXPECT_EQ(expected.merges.size(), 1792u);
  EXPECT_EQ(vocabulary_from_vocab_and_merges(file["model"]["vocab"].dump(), merges, added.dump(),
                                             "vocab.json", 3561),
            expected);
}

TEST(VocabAndMerges, EqualTheTokenizerJsonOfNanosFolder) {
  const auto folder = test::shared_path("nano/hf");
  if (!folder) GTEST_SKIP() << "the folder of the nano model is not here";
  const auto text = [&](const char* name) {
    const auto bytes = test::read_file(*folder / name);
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  EXPECT_EQ(vocabulary_from_vocab_and_merges(text("vocab.json"), text("merges.txt"),
                                             text("added_tokens.json"), "vocab.json", 3561),
            vocabulary_from_tokenizer_json(text("tokenizer.json"), "tokenizer.json", 3561));
}

}  // namespace
}  // namespace sotto
