#include "base/utf8.h"

#include <string>

#include <gtest/gtest.h>

namespace sotto {
namespace {

using namespace std::string_literals;

std::string replacements(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "\uFFFD";
  return text;
}

TEST(Utf8, ValidTextStays) {
  for (const std::string& text : {""s, "plain"s, "ß€😀\u0800\uFFFD"s, "\0zero"s, "\U0010FFFF\uD7FF\uE000"s})
    EXPECT_EQ(replace_invalid_utf8(text), text);
}

TEST(Utf8, CharactersAreDecoded) {
  const auto check = [](std::string_view text, char32_t code, size_t size) {
    const Utf8Character character = first_utf8_character(text);
    EXPECT_TRUE(character.valid) << text;
    EXPECT_EQ(character.code, code);
    EXPECT_EQ(character.size, size);
  };
  check("A", U'A', 1);
  check("\u0080x", 0x80, 2);
  check("€", 0x20AC, 3);
  check("\U0010FFFF!", 0x10FFFF, 4);
}

// The expected counts are those of Python's bytes.decode(errors="replace").
TEST(Utf8, EachMaximalSubpartBecomesOneReplacement) {
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82"), replacements(1));          // cut off
  EXPECT_EQ(replace_invalid_utf8("\xF0\x9F\x98"), replacements(1));      // cut off
  EXPECT_EQ(replace_invalid_utf8("\xF0\x80\x80\x80"), replacements(4));  // overlong
  EXPECT_EQ(replace_invalid_utf8("\xC0\xAF"), replacements(2));          // overlong
  EXPECT_EQ(replace_invalid_utf8("\xE0\x80\xAF"), replacements(3));      // overlong
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), replacements(3));      // surrogate
  EXPECT_EQ(replace_invalid_utf8("\xF4\x90\x80\x80"), replacements(4));  // above U+10FFFF
  EXPECT_EQ(replace_invalid_utf8("\xFF\xFE\x80"), replacements(3));
  EXPECT_EQ(replace_invalid_utf8("a\xE2\x82z"), "a\uFFFDz");
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82\xE2\x82\xAC"), "\uFFFD€");
  EXPECT_EQ(replace_invalid_utf8("\xC3\xF0\x9F\x98\x80"), "\uFFFD😀");
}

TEST(Utf8, TheResultIsValidForEveryPairOfBytes) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string bytes{static_cast<char>(first), static_cast<char>(second)};
      const std::string once = replace_invalid_utf8(bytes);
      ASSERT_EQ(replace_invalid_utf8(once), once) << first << ' ' << second;
      for (std::string_view rest = once; !rest.empty();) {
        const Utf8Character character = first_utf8_character(rest);
        ASSERT_TRUE(character.valid) << first << ' ' << second;
        rest.remove_prefix(character.size);
      }
    }
}

}  // namespace
}  // namespace sotto
