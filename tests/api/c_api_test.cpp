// The C API as a program sees it.
#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sotto/sotto.h>

namespace {

struct Text {
  char* value = nullptr;
  ~Text() { sotto_free(value); }
};

class CApi : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(sotto_options_new(&options_), SOTTO_OK); }
  void TearDown() override { sotto_options_free(options_); }
  sotto_options* options_ = nullptr;
};

const char* const kSample = SOTTO_SOURCE_DIR "/samples/pico_en_short.flac";

TEST_F(CApi, OptionsAreListedAndKept) {
  ASSERT_GT(sotto_option_count(), 10u);
  for (size_t i = 0; i < sotto_option_count(); ++i) {
    sotto_option_info info;
    ASSERT_EQ(sotto_option_at(i, &info), SOTTO_OK);
    Text value;
    ASSERT_EQ(sotto_options_get(options_, info.name, &value.value), SOTTO_OK);
    EXPECT_STREQ(value.value, info.default_value);
    EXPECT_EQ(sotto_options_set(options_, info.name, info.default_value), SOTTO_OK) << info.name;
    EXPECT_STRNE(info.help, "");
  }
  sotto_option_info info;
  EXPECT_EQ(sotto_option_at(sotto_option_count(), &info), SOTTO_ERROR_USAGE);
  EXPECT_EQ(sotto_options_set(options_, "no-such-option", "1"), SOTTO_ERROR_USAGE);
  EXPECT_STREQ(sotto_last_error(), "there is no option 'no-such-option'");
  EXPECT_EQ(sotto_options_set(options_, "threads", "many"), SOTTO_ERROR_USAGE);
}

TEST_F(CApi, NullArgumentsAreRefused) {
  EXPECT_EQ(sotto_options_new(nullptr), SOTTO_ERROR_USAGE);
  EXPECT_EQ(sotto_options_set(nullptr, "threads", "1"), SOTTO_ERROR_USAGE);
  EXPECT_EQ(sotto_model_open(options_, nullptr), SOTTO_ERROR_USAGE);
  sotto_result* result = nullptr;
  EXPECT_EQ(sotto_transcribe_file(nullptr, kSample, options_, nullptr, &result), SOTTO_ERROR_USAGE);
  EXPECT_EQ(sotto_result_segment_count(nullptr), 0u);
  sotto_model_close(nullptr);
  sotto_result_free(nullptr);
  sotto_options_free(nullptr);
  sotto_free(nullptr);
}

TEST_F(CApi, ErrorsHaveTheirCode) {
  sotto_model* model = nullptr;
  ASSERT_EQ(sotto_options_set(options_, "model", "/no/such/model"), SOTTO_OK);
  EXPECT_EQ(sotto_model_open(options_, &model), SOTTO_ERROR_IO);
  EXPECT_NE(std::string(sotto_last_error()).find("/no/such/model"), std::string::npos);
  ASSERT_EQ(sotto_options_set(options_, "model", kSample), SOTTO_OK);
  EXPECT_EQ(sotto_model_open(options_, &model), SOTTO_ERROR_MODEL);
  ASSERT_EQ(sotto_options_set(options_, "model", ""), SOTTO_OK);
  ASSERT_EQ(sotto_options_set(options_, "compute-type", "int8_float16"), SOTTO_OK);
  EXPECT_EQ(sotto_model_open(options_, &model), SOTTO_ERROR_UNSUPPORTED);
  EXPECT_EQ(model, nullptr);
}

TEST_F(CApi, TranscribesWithCallbacksAndWritesEveryFormat) {
  sotto_model* model = nullptr;
  ASSERT_EQ(sotto_model_open(options_, &model), SOTTO_OK) << sotto_last_error();
  EXPECT_STREQ(sotto_model_name(model), "nano");
  EXPECT_EQ(sotto_model_is_demonstration(model), 1);
  Text record;
  ASSERT_EQ(sotto_model_device_record(model, &record.value), SOTTO_OK);
  const auto device = nlohmann::json::parse(record.value);
  EXPECT_EQ(device["id"], "cpu");
  EXPECT_EQ(device["compute_type"], "int8");
  EXPECT_GT(device["memory_used"], 1'000'000);

  struct Seen {
    std::string text;
    double done = -1;
    int stops_asked = 0;
    std::vector<std::string> languages;
  } seen;
  sotto_callbacks callbacks{};
  callbacks.size = sizeof callbacks;
  callbacks.user = &seen;
  callbacks.on_segment = [](const sotto_segment* segment, void* user) {
    static_cast<Seen*>(user)->text += segment->text;
  };
  callbacks.on_progress = [](double done, double, void* user) { static_cast<Seen*>(user)->done = done; };
  callbacks.should_stop = [](void* user) { return ++static_cast<Seen*>(user)->stops_asked, 0; };
  callbacks.on_language = [](const sotto_language* languages, size_t count, void* user) {
    for (size_t i = 0; i < count; ++i) static_cast<Seen*>(user)->languages.emplace_back(languages[i].code);
  };
  ASSERT_EQ(sotto_options_set(options_, "word-timestamps", "true"), SOTTO_OK);
  sotto_result* result = nullptr;
  ASSERT_EQ(sotto_transcribe_file(model, kSample, options_, &callbacks, &result), SOTTO_OK)
      << sotto_last_error();
  EXPECT_EQ(seen.text, " He still kept his eyes fixed on him as he spoke.");
  EXPECT_GT(seen.done, 3);
  EXPECT_GT(seen.stops_asked, 0);
  EXPECT_STREQ(sotto_result_language(result), "en");
  ASSERT_FALSE(seen.languages.empty());
  EXPECT_EQ(seen.languages.front(), "en");
  EXPECT_GT(sotto_result_language_probability(result), 0.5);
  EXPECT_EQ(sotto_result_is_complete(result), 1);
  ASSERT_EQ(sotto_result_segment_count(result), 1u);
  EXPECT_EQ(sotto_result_segment(result, 1), nullptr);
  const sotto_segment* segment = sotto_result_segment(result, 0);
  ASSERT_NE(segment, nullptr);
  EXPECT_EQ(segment->text, seen.text);
  EXPECT_EQ(segment->id, 0);
  EXPECT_GT(segment->token_count, 5u);
  ASSERT_EQ(segment->word_count, 11u);
  EXPECT_STREQ(segment->words[0].text, " He");
  EXPECT_LE(segment->words[0].end, segment->words[1].start);
  EXPECT_STREQ(segment->language, "en");
  EXPECT_LT(segment->average_log_probability, 0);
  EXPECT_EQ(segment->attempts, 1);
  EXPECT_STREQ(segment->suspect, "");
  for (size_t i = 0; i < sotto_output_format_count(); ++i) {
    Text document;
    EXPECT_EQ(sotto_result_write(result, sotto_output_format(i), options_, &document.value), SOTTO_OK);
    EXPECT_NE(std::string(document.value).find("kept"), std::string::npos) << sotto_output_format(i);
  }
  EXPECT_EQ(sotto_output_format(sotto_output_format_count()), nullptr);
  Text none;
  EXPECT_EQ(sotto_result_write(result, "docx", options_, &none.value), SOTTO_ERROR_USAGE);
  sotto_result_free(result);
  sotto_model_close(model);
}

TEST_F(CApi, AStopGivesWhatIsDone) {
  sotto_model* model = nullptr;
  ASSERT_EQ(sotto_model_open(options_, &model), SOTTO_OK);
  sotto_callbacks callbacks{};
  callbacks.size = sizeof callbacks;
  callbacks.should_stop = [](void*) { return 1; };
  sotto_result* result = nullptr;
  const std::vector<float> silence(16000);
  EXPECT_EQ(sotto_transcribe_samples(model, silence.data(), silence.size(), options_, &callbacks, &result),
            SOTTO_CANCELLED);
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(sotto_result_is_complete(result), 0);
  sotto_result_free(result);
  sotto_model_close(model);
}

TEST_F(CApi, AnOlderProgramsCallbacksAreUnderstood) {
  sotto_model* model = nullptr;
  ASSERT_EQ(sotto_model_open(options_, &model), SOTTO_OK);
  sotto_callbacks callbacks{};
  callbacks.size = offsetof(sotto_callbacks, on_language);  // before this member was added
  callbacks.on_language = [](const sotto_language*, size_t, void*) { FAIL(); };
  const std::vector<float> silence(1600);
  sotto_result* result = nullptr;
  EXPECT_EQ(sotto_transcribe_samples(model, silence.data(), silence.size(), options_, &callbacks, &result),
            SOTTO_OK);
  sotto_result_free(result);
  callbacks.size = 8;
  EXPECT_EQ(sotto_transcribe_samples(model, silence.data(), silence.size(), options_, &callbacks, &result),
            SOTTO_ERROR_USAGE);
  EXPECT_STREQ(sotto_last_error(), "sotto_callbacks.size must be sizeof(sotto_callbacks)");
  sotto_model_close(model);
}

TEST_F(CApi, MessagesGoToTheLog) {
  std::string heard;
  sotto_set_log(
      [](sotto_log_level level, const char* text, void* user) {
        if (level == SOTTO_LOG_WARNING) *static_cast<std::string*>(user) += text;
      },
      &heard);
  ASSERT_EQ(sotto_options_set(options_, "device", "cuda:77"), SOTTO_OK);
  sotto_model* model = nullptr;
  EXPECT_EQ(sotto_model_open(options_, &model), SOTTO_OK) << sotto_last_error();
  sotto_model_close(model);
  sotto_set_log(nullptr, nullptr);
  EXPECT_NE(heard.find("cuda:77"), std::string::npos) << heard;
}

TEST_F(CApi, LanguagesAreListed) {
  ASSERT_GT(sotto_language_count(), 90u);
  bool german = false;
  for (size_t i = 0; i < sotto_language_count(); ++i)
    german = german ||
             (std::string(sotto_language_code(i)) == "de" && std::string(sotto_language_name(i)) == "german");
  EXPECT_TRUE(german);
  EXPECT_EQ(sotto_language_code(sotto_language_count()), nullptr);
  EXPECT_EQ(sotto_language_name(sotto_language_count()), nullptr);
}

TEST_F(CApi, ToolsAnswerInJson) {
  Text info;
  ASSERT_EQ(sotto_model_info("nano", &info.value), SOTTO_OK) << sotto_last_error();
  EXPECT_NE(std::string(info.value).find("\"languages\""), std::string::npos);
  EXPECT_EQ(sotto_convert("nano", "/no/such/folder/model.safetensors", "float16"), SOTTO_ERROR_IO);
  EXPECT_EQ(sotto_convert("nano", "/tmp/x.safetensors", "int3"), SOTTO_ERROR_USAGE);
  Text bench;
  EXPECT_EQ(sotto_bench(options_, "gigantic", nullptr, nullptr, &bench.value), SOTTO_ERROR_USAGE);
}

}  // namespace
