// Devices and configuration through the C API, on a machine without a GPU.
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fault/scenario.h"
#include <sotto/sotto.h>

namespace sotto::test {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

struct OptionsFree {
  void operator()(sotto_options* options) const { sotto_options_free(options); }
};
using OptionsOwner = std::unique_ptr<sotto_options, OptionsFree>;

OptionsOwner make_options() {
  sotto_options* options = nullptr;
  EXPECT_EQ(sotto_options_new(&options), SOTTO_OK);
  return OptionsOwner(options);
}

std::string taken(char* text) {
  const std::string copy = text == nullptr ? "" : text;
  sotto_free(text);
  return copy;
}

std::string value(const OptionsOwner& options, const char* name) {
  char* text = nullptr;
  EXPECT_EQ(sotto_options_get(options.get(), name, &text), SOTTO_OK);
  return taken(text);
}

TEST(CApiDevices, configure_fills_in_only_what_the_caller_left_open) {
  FakeSystem system;
  system.set("SOTTO_DEVICE", "cuda");
  const OptionsOwner open = make_options(), given = make_options();
  EXPECT_EQ(value(open, "device"), "auto");  // nothing is read unasked
  ASSERT_EQ(sotto_options_set(given.get(), "device", "auto"), SOTTO_OK);
  ASSERT_EQ(sotto_options_configure(open.get()), SOTTO_OK);
  ASSERT_EQ(sotto_options_configure(given.get()), SOTTO_OK);
  EXPECT_EQ(value(open, "device"), "cuda");
  EXPECT_EQ(value(given, "device"), "auto");
  system.set("SOTTO_DEVICE", "toaster");
  EXPECT_EQ(sotto_options_configure(open.get()), SOTTO_ERROR_USAGE);
  EXPECT_THAT(sotto_last_error(), HasSubstr("SOTTO_DEVICE"));
}

TEST(CApiDevices, a_device_that_is_not_there_is_an_error_without_fallback) {
  const FakeSystem system;
  const OptionsOwner options = make_options();
  ASSERT_EQ(sotto_options_set(options.get(), "device", "cuda"), SOTTO_OK);
  ASSERT_EQ(sotto_options_set(options.get(), "fallback", "false"), SOTTO_OK);
  sotto_model* model = nullptr;
  EXPECT_EQ(sotto_model_open(options.get(), &model), SOTTO_ERROR_DEVICE);
  EXPECT_EQ(model, nullptr);
  ASSERT_EQ(sotto_options_set(options.get(), "fallback", "true"), SOTTO_OK);
  ASSERT_EQ(sotto_model_open(options.get(), &model), SOTTO_OK);
  EXPECT_THAT(sotto_model_device(model), HasSubstr("Using CPU mode ("));
  sotto_model_close(model);
}

TEST(CApiDevices, the_answers_are_documents) {
  const FakeSystem system;
  char* text = nullptr;
  ASSERT_EQ(sotto_devices(nullptr, 0, &text), SOTTO_OK) << sotto_last_error();
  EXPECT_EQ(Json::parse(taken(text)).at("devices").at(0).at("id"), "cpu");
  ASSERT_EQ(sotto_configuration(nullptr, &text), SOTTO_OK) << sotto_last_error();
  EXPECT_EQ(Json::parse(taken(text)).at("options").size(), sotto_option_count());
  EXPECT_EQ(sotto_devices(nullptr, 0, nullptr), SOTTO_ERROR_USAGE);
  EXPECT_EQ(sotto_doctor(nullptr, 0, nullptr, nullptr, nullptr), SOTTO_ERROR_USAGE);
}

}  // namespace
}  // namespace sotto::test
