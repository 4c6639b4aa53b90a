#include "engine/decoding_plan.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace sotto::test {
namespace {

LoadedModel& nano() {
  static LoadedModel model{Options()};
  return model;
}

std::string refusal(const Options& options) {
  try {
    DecodingPlan plan(nano(), options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(DecodingPlan, WishesThatTheModelCannotFulfilAreRefusedInWords) {
  Options options;
  options.language = "klingon";
  EXPECT_EQ(refusal(options), "'klingon' is not a language that Whisper knows");
  options.language = "zh";
  EXPECT_EQ(refusal(options), "this model does not know the language 'zh'; it knows en, de, es, fr");
  options = {};
  options.languages = "en,Polish";
  EXPECT_EQ(refusal(options), "this model does not know the language 'Polish'; it knows en, de, es, fr");
  options = {};
  options.suppress_tokens = "-1,99999";
  EXPECT_EQ(refusal(options),
            "option 'suppress-tokens' takes token ids below 3561, separated by commas, not '99999'");
  options = {};
  options.temperature = "0,hot";
  EXPECT_EQ(refusal(options),
            "option 'temperature' takes numbers from 0 to 10, separated by commas, not 'hot'");
  options.temperature = " , ";
  EXPECT_EQ(refusal(options), "option 'temperature' needs at least one number");
}

TEST(DecodingPlan, LanguageNamesAndCodes) {
  Options options;
  options.language = "German";
  const DecodingPlan plan(nano(), options);
  EXPECT_FALSE(plan.language_is_open());
  EXPECT_EQ(plan.request({}, {}, true).language, *nano().tokenizer().language_token("de"));
  EXPECT_TRUE(DecodingPlan(nano(), {}).language_is_open());
}

TEST(DecodingPlan, PromptOfEachWindow) {
  const Tokenizer& tokenizer = nano().tokenizer();
  Options options;
  options.initial_prompt = "  Names: Ada. ";
  options.hotwords = "Sotto";
  const auto prompt = tokenizer.encode(" Names: Ada."), hot = tokenizer.encode(" Sotto");
  const std::vector<TokenId> context{10, 11, 12};
  {
    const DecodingPlan plan(nano(), options);
    EXPECT_EQ(plan.opening_context(), prompt);
    auto expected = hot;
    expected.insert(expected.end(), context.begin(), context.end());
    EXPECT_EQ(plan.request({}, context, false).search.prompt, expected);
  }
  options.carry_initial_prompt = true;
  options.max_context = 2;
  const DecodingPlan plan(nano(), options);
  EXPECT_TRUE(plan.opening_context().empty());
  auto expected = prompt;
  expected.insert(expected.end(), hot.begin(), hot.end());
  expected.insert(expected.end(), {11, 12});
  EXPECT_EQ(plan.request({}, context, false).search.prompt, expected);
}

TEST(DecodingPlan, APrefixOpensTheFirstWindowOnly) {
  Options options;
  options.prefix = "He still";
  const DecodingPlan plan(nano(), options);
  auto expected = nano().tokenizer().encode(" He still");
  expected.insert(expected.begin(), nano().tokenizer().special().first_timestamp);
  EXPECT_EQ(plan.request({}, {}, true).search.prefix, expected);
  EXPECT_TRUE(plan.request({}, {}, false).search.prefix.empty());
}

}  // namespace
}  // namespace sotto::test
