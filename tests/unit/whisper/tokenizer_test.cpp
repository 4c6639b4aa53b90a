#include "whisper/tokenizer.h"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "small_vocabulary.h"

namespace sotto {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Tokenizer small_tokenizer() {
  return Tokenizer(VocabularyMaker().standard_specials().timestamps().make());
}

std::string bad_model(const Vocabulary& vocabulary) {
  try {
    const Tokenizer tokenizer(vocabulary);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_model);
    return error.what();
  }
  ADD_FAILURE() << "the vocabulary was accepted";
  return {};
}

std::vector<std::string> language_codes(const Tokenizer& tokenizer) {
  std::vector<std::string> codes;
  for (const auto& language : tokenizer.languages()) codes.push_back(language.code);
  return codes;
}

// Byte-pair encoding as it is defined: join the leftmost pair of the lowest rank until none is left.
std::vector<std::string> merge_slowly(const Vocabulary& vocabulary, const std::string& text) {
  std::vector<std::string> parts;
  for (const char c : text) parts.emplace_back(1, c);
  for (;;) {
    size_t best = std::numeric_limits<size_t>::max(), place = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i)
      for (size_t rank = 0; rank < vocabulary.merges.size() && rank < best; ++rank)
        if (vocabulary.merges[rank] == std::pair(parts[i], parts[i + 1])) best = rank, place = i;
    if (best == std::numeric_limits<size_t>::max()) return parts;
    parts[place] += parts[place + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

std::vector<std::string> parts_of(const Tokenizer& tokenizer, const std::vector<TokenId>& tokens) {
  std::vector<std::string> parts;
  for (const TokenId token : tokens) parts.emplace_back(tokenizer.token_bytes(token));
  return parts;
}

VocabularyMaker merging_vocabulary() {
  VocabularyMaker maker;
  maker.merge("a", "a").merge("b", "a").merge("a", "b").merge("aa", "a").merge("aa", "aa").merge("ab", "ab");
  maker.merge("ba", "ba").merge("aaa", "b").merge("c", "ab").merge("cab", "c");
  return maker;
}

TEST(Tokenizer, MergesLikeTheDefinition) {
  const Vocabulary vocabulary = merging_vocabulary().standard_specials().timestamps().make();
  const Tokenizer tokenizer(vocabulary);
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (size_t n = random() % 24; n > 0; --n) text += static_cast<char>('a' + random() % 3);
    EXPECT_EQ(parts_of(tokenizer, tokenizer.encode(text)), merge_slowly(vocabulary, text)) << text;
  }
}

TEST(Tokenizer, WithoutMergesTheIdIsTheRank) {
  Vocabulary vocabulary =
      VocabularyMaker().merge("b", "c").merge("a", "b").standard_specials().timestamps().make();
  vocabulary.merges.clear();
  const Tokenizer tokenizer(vocabulary);
  EXPECT_THAT(parts_of(tokenizer, tokenizer.encode("abc")), ElementsAre("a", "bc"));
  EXPECT_THAT(parts_of(tokenizer, tokenizer.encode("abab")), ElementsAre("ab", "ab"));
}

TEST(Tokenizer, NothingIsMergedAcrossPieces) {
  const Tokenizer tokenizer(VocabularyMaker()
                                .merge("a", " ")
                                .merge("a", "1")
                                .merge(" ", "a")
                                .standard_specials()
                                .timestamps()
                                .make());
  EXPECT_THAT(parts_of(tokenizer, tokenizer.encode("a a1")), ElementsAre("a", " a", "1"));
}

TEST(Tokenizer, ALongWordTakesNoTimeToSpeakOf) {
  VocabularyMaker maker;
  for (std::string run = "a"; run.size() < 64; run += run) maker.merge(run, run);
  Vocabulary vocabulary = maker.standard_specials().timestamps().make();
  const std::string text(64 * 2000, 'a');
  for (const bool with_merges : {true, false}) {
    if (!with_merges) vocabulary.merges.clear();
    const Tokenizer tokenizer(vocabulary);
    EXPECT_EQ(tokenizer.encode(text).size(), text.size() / 64);
  }
}

TEST(Tokenizer, SpecialTokensAreFoundByName) {
  const Tokenizer tokenizer = small_tokenizer();
  const SpecialTokens& special = tokenizer.special();
  EXPECT_EQ(special.end, 256);
  EXPECT_EQ(special.start, 257);
  EXPECT_EQ(special.translate, 260);
  EXPECT_EQ(special.transcribe, 261);
  EXPECT_EQ(special.start_of_prompt, 263);
  EXPECT_EQ(special.no_speech, 264);
  EXPECT_EQ(special.no_timestamps, 265);
  EXPECT_EQ(special.first_timestamp, 266);
  EXPECT_EQ(special.last_timestamp, 266 + 1500);
  EXPECT_EQ(tokenizer.find_special("<|startoflm|>"), 262);
  EXPECT_EQ(tokenizer.find_special("<|30.00|>"), special.last_timestamp);
  EXPECT_EQ(tokenizer.find_special("a"), std::nullopt);
  EXPECT_EQ(tokenizer.find_special(""), std::nullopt);
}

TEST(Tokenizer, OlderFilesCallSilenceNoCaptions) {
  const Tokenizer tokenizer(
      VocabularyMaker()
          .specials({"<|endoftext|>", "<|startoftranscript|>", "<|nocaptions|>", "<|notimestamps|>"})
          .timestamps()
          .make());
  EXPECT_EQ(tokenizer.special().no_speech, 258);
  EXPECT_EQ(tokenizer.special().translate, SpecialTokens::none);
  EXPECT_FALSE(tokenizer.multilingual());
}

TEST(Tokenizer, NamelessTimestampsFollowNoTimestamps) {
  VocabularyMaker maker;
  maker.standard_specials();
  for (int i = 0; i < 1501 + 6; ++i) maker.special("");  // some files round the size up
  const Tokenizer tokenizer(maker.make());
  EXPECT_EQ(tokenizer.special().first_timestamp, 266);
  EXPECT_EQ(tokenizer.special().last_timestamp, 266 + 1500);
  EXPECT_EQ(tokenizer.token_bytes(266 + 60), "<|1.20|>");
  EXPECT_FALSE(tokenizer.is_timestamp(266 + 1501));
}

TEST(Tokenizer, LanguagesComeFromTheFileInItsOrder) {
  const Tokenizer tokenizer = small_tokenizer();
  EXPECT_THAT(language_codes(tokenizer), ElementsAre("en", "de"));
  EXPECT_TRUE(tokenizer.multilingual());
  EXPECT_EQ(tokenizer.language_token("de"), 259);
  EXPECT_EQ(tokenizer.language_token("fr"), std::nullopt);
  EXPECT_EQ(tokenizer.language_token("translate"), std::nullopt);
}

TEST(Tokenizer, EnglishOnlyModelsHaveOneLanguage) {
  constexpr size_t kSize = 51864;
  VocabularyMaker maker;
  while (maker.size() < kSize - 1501 - 10) maker.ordinary(fmt::format("token {}", maker.size()));
  const Tokenizer tokenizer(maker.standard_specials().timestamps().make());
  ASSERT_EQ(tokenizer.size(), static_cast<int>(kSize));
  EXPECT_FALSE(tokenizer.multilingual());
  EXPECT_THAT(language_codes(tokenizer), ElementsAre("en"));
  EXPECT_EQ(tokenizer.language_token("de"), std::nullopt);
}

TEST(Tokenizer, TimestampsCountInFiftiethsOfASecond) {
  const Tokenizer tokenizer = small_tokenizer();
  const TokenId first = tokenizer.special().first_timestamp;
  EXPECT_EQ(tokenizer.timestamp_seconds(first), 0.0);
  EXPECT_EQ(tokenizer.timestamp_seconds(first + 60), 1.2);
  EXPECT_EQ(tokenizer.timestamp_seconds(first + 1500), 30.0);
  EXPECT_TRUE(tokenizer.is_timestamp(first));
  EXPECT_TRUE(tokenizer.is_special(first));
  EXPECT_FALSE(tokenizer.is_timestamp(first - 1));
  EXPECT_FALSE(tokenizer.is_timestamp(first + 1501));
}

TEST(Tokenizer, SpecialTokensAreLeftOutOrNamed) {
  const Tokenizer tokenizer = small_tokenizer();
  const SpecialTokens& special = tokenizer.special();
  const std::vector<TokenId> tokens{special.start, special.first_timestamp + 60, 'h',
                                    'i',           special.last_timestamp,       special.end};
  EXPECT_EQ(tokenizer.decode(tokens), "hi");
  EXPECT_EQ(tokenizer.decode_with_special(tokens), "<|startoftranscript|><|1.20|>hi<|30.00|><|endoftext|>");
}

TEST(Tokenizer, TextThatLooksSpecialIsPlainText) {
  const Tokenizer tokenizer = small_tokenizer();
  for (const TokenId token : tokenizer.encode("<|endoftext|><|0.00|>"))
    EXPECT_FALSE(tokenizer.is_special(token));
}

TEST(Tokenizer, IdsOutsideTheVocabularyAreRefused) {
  const Tokenizer tokenizer = small_tokenizer();
  for (const TokenId token : {-1, tokenizer.size(), std::numeric_limits<TokenId>::max()}) {
    EXPECT_FALSE(tokenizer.is_special(token));
    EXPECT_FALSE(tokenizer.is_timestamp(token));
    EXPECT_THROW(tokenizer.token_bytes(token), Error);
    EXPECT_THROW(tokenizer.decode(std::vector{token}), Error);
  }
}

TEST(Tokenizer, CopiesOutliveTheOriginal) {
  auto original = std::make_unique<Tokenizer>(merging_vocabulary().standard_specials().timestamps().make());
  const Tokenizer copy = *original;
  original.reset();
  EXPECT_THAT(parts_of(copy, copy.encode("cabc aaa")), ElementsAre("cabc", " ", "aaa"));
  EXPECT_TRUE(copy.find_special("<|de|>").has_value());
}

TEST(Tokenizer, NonSpeechTokensAreThoseOfTheVocabulary) {
  const Tokenizer tokenizer(VocabularyMaker()
                                .merge(" ", "-")
                                .merge("-", "-")
                                .merge("\xE2", "\x99")
                                .merge(" ", "\xE2\x99")
                                .merge("\xE2\x99", "\xAA")
                                .standard_specials()
                                .timestamps()
                                .make());
  const std::vector<TokenId> tokens = tokenizer.non_speech_tokens();
  EXPECT_TRUE(std::is_sorted(tokens.begin(), tokens.end()));
  // 23 single symbols of ASCII, " -", "--", the beginning of music symbols with and without a space, and a
  // whole one; neither the space nor the bytes of longer symbols, which other text needs.
  const std::string ascii = "\"#()*+/:;<=>@[\\]^_`{|}~";
  std::vector<TokenId> expected(ascii.begin(), ascii.end());
  for (TokenId token = 256; token <= 260; ++token) expected.push_back(token);
  EXPECT_EQ(tokens, expected);
}

TEST(Tokenizer, AVocabularyMustHoldEveryByte) {
  Vocabulary vocabulary = VocabularyMaker().standard_specials().timestamps().make();
  vocabulary.tokens[0x41] = "AA";
  EXPECT_THAT(bad_model(vocabulary), HasSubstr("0x41"));
  EXPECT_THAT(bad_model({}), HasSubstr("byte"));
}

TEST(Tokenizer, AVocabularyMustHoldItsMerges) {
  for (const auto& merge : {std::pair("zz", "a"), std::pair("x", "y"), std::pair("a", ""), std::pair("", "a"),
                            std::pair("", "")}) {
    Vocabulary vocabulary = merging_vocabulary().standard_specials().timestamps().make();
    vocabulary.merges.emplace_back(merge);
    EXPECT_THAT(bad_model(vocabulary), HasSubstr("merge 10"));
  }
}

TEST(Tokenizer, AVocabularyMustHoldTheNeededSpecialTokens) {
  for (const char* name : {"<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>", "<|0.00|>"}) {
    Vocabulary vocabulary = VocabularyMaker().standard_specials().timestamps(1).make();
    *std::find(vocabulary.tokens.begin(), vocabulary.tokens.end(), name) = "<|unused|>";
    EXPECT_THAT(bad_model(vocabulary), HasSubstr(std::string(name)));
  }
}

TEST(Tokenizer, TimestampsMustBeInOrder) {
  const auto with_timestamps = [](std::initializer_list<const char*> names) {
    return VocabularyMaker().standard_specials().specials(names).make();
  };
  EXPECT_THAT(bad_model(with_timestamps({"<|0.00|>", "<|0.04|>"})), HasSubstr("<|0.02|>"));
  EXPECT_THAT(bad_model(with_timestamps({"<|0.00|>", "<|0.02|>", "<|x|>", "<|0.04|>"})),
              HasSubstr("<|0.04|>"));
  EXPECT_THAT(bad_model(with_timestamps({"<|0.02|>", "<|0.00|>"})), HasSubstr("<|0.02|>"));
  EXPECT_THAT(bad_model(with_timestamps({"<|0.02|>"})), HasSubstr("<|0.00|>"));
  EXPECT_THAT(bad_model(with_timestamps({"<|other|>"})), HasSubstr("<|0.00|>"));
  EXPECT_EQ(Tokenizer(with_timestamps({"<|0.00|>", "<|0.02|>"})).special().last_timestamp, 267);
}

TEST(Tokenizer, MarksMustMatchTokens) {
  Vocabulary vocabulary = VocabularyMaker().standard_specials().timestamps().make();
  vocabulary.special.pop_back();
  EXPECT_THAT(bad_model(vocabulary), HasSubstr("marks"));
}

TEST(Tokenizer, EmptyTextHasNoTokens) {
  const Tokenizer tokenizer = small_tokenizer();
  EXPECT_THAT(tokenizer.encode(""), IsEmpty());
  EXPECT_EQ(tokenizer.decode({}), "");
}

}  // namespace
}  // namespace sotto
