#include "whisper/text_pieces.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto {
namespace {

using testing::ElementsAre;

std::vector<std::string> pieces(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    result.emplace_back(first_piece(text));
    text.remove_prefix(result.back().size());
  }
  return result;
}

TEST(TextPieces, WordsTakeTheSpaceBeforeThem) {
  EXPECT_THAT(pieces("Hello world 42!"), ElementsAre("Hello", " world", " 42", "!"));
  EXPECT_THAT(pieces("abc123def"), ElementsAre("abc", "123", "def"));
  EXPECT_THAT(pieces("a.b, c"), ElementsAre("a", ".", "b", ",", " c"));
}

TEST(TextPieces, ContractionsAreCutOff) {
  EXPECT_THAT(pieces("it's we're I've I'm you'll he'd don't"),
              ElementsAre("it", "'s", " we", "'re", " I", "'ve", " I", "'m", " you", "'ll", " he", "'d",
                          " don", "'t"));
  EXPECT_THAT(pieces("IT'S"), ElementsAre("IT", "'", "S"));
  EXPECT_THAT(pieces("'stop"), ElementsAre("'s", "top"));
  EXPECT_THAT(pieces(" 's"), ElementsAre(" '", "s"));
  EXPECT_THAT(pieces("!'s"), ElementsAre("!'", "s"));
  EXPECT_THAT(pieces("'"), ElementsAre("'"));
}

TEST(TextPieces, WhiteSpaceLeavesItsLastCharacterToAWord) {
  EXPECT_THAT(pieces("a   b"), ElementsAre("a", "  ", " b"));
  EXPECT_THAT(pieces("a\n\nb"), ElementsAre("a", "\n", "\n", "b"));
  EXPECT_THAT(pieces("a \n b"), ElementsAre("a", " \n", " b"));
  EXPECT_THAT(pieces("a\tb"), ElementsAre("a", "\t", "b"));
  EXPECT_THAT(pieces("a  "), ElementsAre("a", "  "));
  EXPECT_THAT(pieces(" "), ElementsAre(" "));
  EXPECT_THAT(pieces("  "), ElementsAre("  "));
  EXPECT_THAT(pieces("a\u00A0\u3000b"), ElementsAre("a", "\u00A0", "\u3000", "b"));
}

TEST(TextPieces, LettersAndNumbersAreThoseOfUnicode) {
  EXPECT_THAT(pieces("naïve café"), ElementsAre("naïve", " café"));
  EXPECT_THAT(pieces("日本語123"), ElementsAre("日本語", "123"));
  EXPECT_THAT(pieces("Ωмега٣½Ⅷ"), ElementsAre("Ωмега", "٣½Ⅷ"));
  EXPECT_THAT(pieces("हिन्दी"),
              ElementsAre("ह", "ि", "न", "्", "द", "ी"));  // vowel signs are marks, not letters
  EXPECT_THAT(pieces(" ♪♪ 😀"), ElementsAre(" ♪♪", " 😀"));
}

TEST(TextPieces, ClassesFollowTheUnicodeTables) {
  using enum CharacterClass;
  for (const char32_t code : {U'a', U'Z', U'ß', U'ª', U'ʰ', U'ऄ', U'一', U'한', U'𝒜', char32_t{0x3134A}})
    EXPECT_EQ(character_class(code), letter) << std::hex << static_cast<uint32_t>(code);
  for (const char32_t code : {U'0', U'9', U'²', U'¼', U'٠', U'Ⅷ', U'〇', U'𝟘'})
    EXPECT_EQ(character_class(code), number) << std::hex << static_cast<uint32_t>(code);
  for (const char32_t code :
       {0x9, 0xD, 0x20, 0x85, 0xA0, 0x1680, 0x2000, 0x200A, 0x2028, 0x202F, 0x205F, 0x3000})
    EXPECT_EQ(character_class(code), space) << std::hex << static_cast<uint32_t>(code);
  for (const char32_t code :
       {0x0, 0x8, 0xE, 0x1C, 0x7F, 0xD7, 0x300, 0x200B, 0x2060, 0xE000, 0xFEFF, 0x10FFFF})
    EXPECT_EQ(character_class(code), other) << std::hex << static_cast<uint32_t>(code);
}

TEST(TextPieces, BytesThatAreNotUtf8AreOther) {
  EXPECT_THAT(pieces("a\xFF\xE2\x82z"), ElementsAre("a", "\xFF\xE2\x82", "z"));
  EXPECT_THAT(pieces(" \xC3"), ElementsAre(" \xC3"));
}

TEST(TextPieces, PiecesAddUpToTheText) {
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    std::string text(random() % 60, '\0');
    for (char& byte : text) byte = static_cast<char>(random() % 3 == 0 ? ' ' : random());
    std::string joined;
    for (const std::string& piece : pieces(text)) {
      ASSERT_FALSE(piece.empty());
      joined += piece;
    }
    EXPECT_EQ(joined, text);
  }
}

}  // namespace
}  // namespace sotto
