#include "base/options.h"

#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace sotto {
namespace {

using testing::HasSubstr;

std::string usage_error(std::string_view name, std::string_view value) {
  Options options;
  try {
    set_option(options, name, value);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  ADD_FAILURE() << name << " = " << value << " was accepted";
  return {};
}

TEST(Options, SettingWhatWasReadChangesNothing) {
  const Options defaults;
  for (const OptionSpec& spec : option_specs()) {
    Options options;
    const std::string text = get_option(defaults, spec.name);
    EXPECT_NO_THROW(set_option(options, spec.name, text)) << spec.name << " = " << text;
    EXPECT_EQ(get_option(options, spec.name), text) << spec.name;
    for (const OptionSpec& other : option_specs())
      EXPECT_EQ(get_option(options, other.name), get_option(defaults, other.name))
          << spec.name << ", " << other.name;
  }
}

TEST(Options, EachIsDescribedOnce) {
  std::set<std::string_view> names;
  for (const OptionSpec& spec : option_specs()) {
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name;
    EXPECT_FALSE(spec.group.empty()) << spec.name;
    EXPECT_FALSE(spec.help.empty()) << spec.name;
    EXPECT_EQ(spec.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos)
        << spec.name;
  }
}

TEST(Options, EveryChoiceIsAccepted) {
  for (const OptionSpec& spec : option_specs()) {
    std::string choice;
    for (const char c : std::string(spec.choices) + ',') {
      if (c != ',') {
        choice += c;
        continue;
      }
      if (choice.empty()) continue;
      Options options;
      set_option(options, spec.name, choice);
      EXPECT_EQ(get_option(options, spec.name), choice) << spec.name;
      choice.clear();
    }
  }
}

TEST(Options, LimitsAreAcceptedAndWhatLiesBeyondIsNot) {
  for (const OptionSpec& spec : option_specs()) {
    if (spec.lowest == spec.highest) continue;
    Options options;
    EXPECT_NO_THROW(set_option(options, spec.name, fmt::format("{}", spec.lowest))) << spec.name;
    EXPECT_NO_THROW(set_option(options, spec.name, fmt::format("{}", spec.highest))) << spec.name;
    EXPECT_THAT(usage_error(spec.name, fmt::format("{}", spec.lowest - 1)),
                HasSubstr(std::string(spec.name)));
    EXPECT_THAT(usage_error(spec.name, fmt::format("{}", spec.highest + 1)),
                HasSubstr(std::string(spec.name)));
  }
}

TEST(Options, UnknownNamesAreRefused) {
  EXPECT_THAT(usage_error("beam-sizes", "5"), HasSubstr("beam-sizes"));
  EXPECT_THAT(usage_error("", "5"), HasSubstr("no option"));
  EXPECT_THROW(get_option(Options{}, "Task"), Error);
}

TEST(Options, BadNumbersAreRefused) {
  for (const char* value : {"", " ", "x", "4x", "4 ", " 4", "4.5", "0x4", "99999999999999999999"})
    EXPECT_THAT(usage_error("threads", value), HasSubstr("threads")) << value;
  for (const char* value : {"", "x", "0.5x", "nan", "inf", "-inf", "1e999"})
    EXPECT_THAT(usage_error("no-speech-threshold", value), HasSubstr("no-speech-threshold")) << value;
}

TEST(Options, BadChoicesNameTheGoodOnes) {
  EXPECT_THAT(usage_error("task", "summarise"), HasSubstr("transcribe,translate"));
  EXPECT_THAT(usage_error("task", ""), HasSubstr("transcribe"));
  EXPECT_THAT(usage_error("task", "transcribe,translate"), HasSubstr("transcribe"));
  EXPECT_THAT(usage_error("compute-type", "INT8"), HasSubstr("int8"));
}

TEST(Options, BooleansAreReadInTheirUsualSpellings) {
  for (const char* yes : {"true", "1", "yes", "on"}) {
    Options options;
    set_option(options, "without-timestamps", yes);
    EXPECT_TRUE(options.without_timestamps) << yes;
  }
  for (const char* no : {"false", "0", "no", "off"}) {
    Options options;
    set_option(options, "suppress-blank", no);
    EXPECT_FALSE(options.suppress_blank) << no;
  }
  EXPECT_THAT(usage_error("suppress-blank", "maybe"), HasSubstr("true or false"));
}

TEST(Options, ARefusedValueLeavesTheOldOne) {
  Options options;
  options.threads = 3;
  EXPECT_THROW(set_option(options, "threads", "-1"), Error);
  EXPECT_THROW(set_option(options, "threads", "many"), Error);
  EXPECT_EQ(options.threads, 3);
}

TEST(Options, NumbersKeepTheirExactValue) {
  Options options;
  options.log_prob_threshold = -0.1;
  Options copy;
  set_option(copy, "log-prob-threshold", get_option(options, "log-prob-threshold"));
  EXPECT_EQ(copy.log_prob_threshold, options.log_prob_threshold);
}

TEST(Options, TextMayHoldAnything) {
  Options options;
  const std::string text = "Zoë, “naïve”\n\t=-1";
  set_option(options, "initial-prompt", text);
  EXPECT_EQ(options.initial_prompt, text);
  EXPECT_EQ(get_option(options, "initial-prompt"), text);
}

}  // namespace
}  // namespace sotto
