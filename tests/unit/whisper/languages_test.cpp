#include <string>

#include <gtest/gtest.h>

#include "whisper/tokenizer.h"

namespace sotto {
namespace {

TEST(Languages, CodesHaveNames) {
  EXPECT_EQ(language_name("de"), "german");
  EXPECT_EQ(language_name("yue"), "cantonese");
  EXPECT_EQ(language_name("haw"), "hawaiian");
  EXPECT_EQ(language_name("jw"), "javanese");
  EXPECT_EQ(language_name("xx"), std::nullopt);
  EXPECT_EQ(language_name("DE"), std::nullopt);
  EXPECT_EQ(language_name(""), std::nullopt);
}

TEST(Languages, CodesAndNamesAreReadInAnyCase) {
  for (const char* text : {"de", "DE", "german", "German", "GERMAN"})
    EXPECT_EQ(language_code(text), "de") << text;
  EXPECT_EQ(language_code("Haitian Creole"), "ht");
  EXPECT_EQ(language_code("germanic"), std::nullopt);
  EXPECT_EQ(language_code("ger"), std::nullopt);
  EXPECT_EQ(language_code("auto"), std::nullopt);
  EXPECT_EQ(language_code(""), std::nullopt);
}

TEST(Languages, OtherNamesAreUnderstood) {
  const std::pair<const char*, const char*> kAliases[] = {
      {"burmese", "my"},   {"valencian", "ca"},     {"flemish", "nl"},
      {"haitian", "ht"},   {"letzeburgesch", "lb"}, {"pushto", "ps"},
      {"panjabi", "pa"},   {"moldavian", "ro"},     {"moldovan", "ro"},
      {"sinhalese", "si"}, {"castilian", "es"},     {"mandarin", "zh"},
      {"jv", "jw"}};
  for (const auto& [name, code] : kAliases) EXPECT_EQ(language_code(name), code) << name;
}

// All two- and three-letter codes are tried, so that the table cannot lose or gain one unnoticed.
TEST(Languages, ThereAreAHundredAndEachNameLeadsBack) {
  int count = 0;
  const auto try_code = [&](const std::string& code) {
    const auto name = language_name(code);
    if (!name) return;
    ++count;
    EXPECT_EQ(language_code(*name), code);
    EXPECT_EQ(language_code(code), code);
  };
  for (char a = 'a'; a <= 'z'; ++a)
    for (char b = 'a'; b <= 'z'; ++b) {
      try_code({a, b});
      for (char c = 'a'; c <= 'z'; ++c) try_code({a, b, c});
    }
  EXPECT_EQ(count, 100);
}

}  // namespace
}  // namespace sotto
