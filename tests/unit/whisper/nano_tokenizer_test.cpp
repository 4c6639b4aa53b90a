// The tokenizer of the built-in model against the reference's output.
#include <fstream>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "whisper/tokenizer.h"

namespace sotto {
namespace {

using testing::ElementsAre;
using Json = nlohmann::json;

const Tokenizer& nano() {
  static const Tokenizer tokenizer(embedded_checkpoint().vocabulary);
  return tokenizer;
}

Json read_json(const std::string& path) {
  std::ifstream file(SOTTO_SOURCE_DIR "/" + path);
  EXPECT_TRUE(file) << path;
  return Json::parse(file);
}

std::vector<TokenId> ordinary_only(const std::vector<TokenId>& tokens) {
  std::vector<TokenId> ordinary;
  for (const TokenId token : tokens)
    if (!nano().is_special(token)) ordinary.push_back(token);
  return ordinary;
}

std::string joined_bytes(const std::vector<TokenId>& tokens) {
  std::string bytes;
  for (const TokenId token : tokens) bytes += nano().token_bytes(token);
  return bytes;
}

TEST(NanoTokenizer, AgreesWithTheReference) {
  for (const char* sample : {"pico_en_short", "pico_de", "dialogue_pico_bdl"}) {
    const Json golden = read_json(std::string("tests/golden/data/nano_") + sample + ".json");
    const Json output = read_json("samples/nano_output.json").at(sample);
    const auto greedy = golden.at("greedy").get<std::vector<TokenId>>();
    const auto timed = golden.at("greedy_ts").get<std::vector<TokenId>>();
    EXPECT_EQ(nano().encode(output.at("greedy").get<std::string>()), ordinary_only(greedy)) << sample;
    EXPECT_EQ(nano().decode(greedy), output.at("greedy")) << sample;
    EXPECT_EQ(nano().decode_with_special(greedy), golden.at("greedy_text")) << sample;
    EXPECT_EQ(nano().decode_with_special(timed), output.at("timestamps")) << sample;
  }
}

TEST(NanoTokenizer, TextsOfAllSamplesComeBack) {
  for (const Json& sample : read_json("samples/nano_output.json")) {
    if (!sample.is_object()) continue;
    const std::string text = sample.at("greedy");
    EXPECT_EQ(nano().decode(nano().encode(text)), text);
  }
}

TEST(NanoTokenizer, KnowsItsLayout) {
  std::vector<std::string> codes;
  for (const auto& language : nano().languages()) codes.push_back(language.code);
  EXPECT_THAT(codes, ElementsAre("en", "de", "es", "fr"));
  EXPECT_TRUE(nano().multilingual());
  EXPECT_EQ(nano().size(), 3561);
  EXPECT_EQ(nano().special().end, 2048);
  EXPECT_EQ(nano().special().start_of_prompt, 2057);
  EXPECT_EQ(nano().special().no_speech, 2058);
  EXPECT_EQ(nano().special().first_timestamp, 2060);
  EXPECT_EQ(nano().special().last_timestamp, 3560);
}

TEST(NanoTokenizer, NonSpeechTokensLeaveSpeechAlone) {
  const auto tokens = nano().non_speech_tokens();
  EXPECT_FALSE(tokens.empty());
  for (const TokenId token : tokens) {
    EXPECT_FALSE(nano().is_special(token));
    for (const char c : nano().token_bytes(token))
      EXPECT_FALSE((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'));
    EXPECT_NE(nano().token_bytes(token), " ");
  }
}

TEST(NanoTokenizer, AnyBytesComeBackExactly) {
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_EQ(joined_bytes(nano().encode(bytes)), bytes);
  }
}

void append_utf8(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int followers = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  text += static_cast<char>((0xFF00U >> (followers + 1)) | (code >> (6 * followers)));
  for (int i = followers - 1; i >= 0; --i) text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3F));
}

TEST(NanoTokenizer, AnyTextComesBackAndNoPrefixIsBroken) {
  std::mt19937 random(8);
  constexpr char32_t kLimits[] = {0x80, 0x800, 0xD800, 0x110000};
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (size_t n = random() % 40; n > 0; --n) {
      const char32_t code = static_cast<char32_t>(random()) % kLimits[random() % 4];
      append_utf8(text, code >= 0xD800 && code < 0xE000 ? U' ' : code);
    }
    const std::vector<TokenId> tokens = nano().encode(text);
    ASSERT_EQ(nano().decode(tokens), text);
    for (size_t n = 0; n <= tokens.size(); ++n) {
      const std::string prefix = nano().decode(std::span(tokens).first(n));
      ASSERT_EQ(replace_invalid_utf8(prefix), prefix);
    }
  }
}

TEST(NanoTokenizer, AnyTokensGiveValidText) {
  std::mt19937 random(9);
  for (int i = 0; i < 500; ++i) {
    std::vector<TokenId> tokens(random() % 50);
    for (TokenId& token : tokens)
      token = static_cast<TokenId>(random() % static_cast<unsigned>(nano().size()));
    for (const std::string& text : {nano().decode(tokens), nano().decode_with_special(tokens)})
      ASSERT_EQ(replace_invalid_utf8(text), text);
  }
}

}  // namespace
}  // namespace sotto
