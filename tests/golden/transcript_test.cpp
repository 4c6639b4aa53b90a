// Whole transcriptions, from the file to the text, against what the reference implementation writes.
#include <fstream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "engine/transcriber.h"
#include "support/temporary_folder.h"
#include "support/test_backends.h"
#include "support/word_errors.h"

namespace sotto::test {
namespace {

constexpr bool kSlowBuild = SOTTO_SLOW_BUILD != 0;  // under a sanitizer: a sample of the long tests

// One model per device and compute type for the whole program: loading it is not what is tested here.
LoadedModel& model_of(const std::string& compute_type, const std::string& device = "cpu") {
  static std::map<std::pair<std::string, std::string>, std::unique_ptr<LoadedModel>> models;
  auto& model = models[{compute_type, device}];
  if (!model) {
    Options options;
    options.compute_type = compute_type;
    options.device = device;
    options.fallback = false;
    model = std::make_unique<LoadedModel>(options);
  }
  return *model;
}

// As the reference ran: greedy, one attempt, the whole window.
Options greedy_options(bool timestamps) {
  Options options;
  options.beam_size = 1;
  options.temperature = "0";
  options.vad = false;
  options.without_timestamps = !timestamps;
  return options;
}

Transcript transcribe_file(const std::string& compute_type, const std::filesystem::path& path,
                           const Options& options, const std::string& device = "cpu") {
  const auto audio = open_audio(path.string());
  return transcribe(model_of(compute_type, device), *audio, options);
}

std::string plain_text(const Transcript& transcript) {
  std::string text;
  for (const Segment& segment : transcript.segments) text += segment.text;
  return text;
}

std::string timed_text(const Transcript& transcript, const Tokenizer& tokenizer) {
  std::string text;
  for (const Segment& segment : transcript.segments) text += tokenizer.decode_with_special(segment.tokens);
  return text;
}

std::vector<std::vector<std::string>> read_table(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    auto& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
  }
  rows.erase(rows.begin());  // the head
  return rows;
}

nlohmann::json reference_outputs() {
  std::ifstream file(source_path("samples/nano_output.json"));
  return nlohmann::json::parse(file);
}

// What the reference prints for silence is a lone special token; as text that is nothing.
std::string expected_text(const std::string& text) {
  return text.starts_with("<|") ? "" : text;
}

TEST(SampleTranscripts, GreedyEqualsTheReference) {
  const auto outputs = reference_outputs();
  for (const auto& [name, expected] : outputs.items()) {
    const auto transcript =
        transcribe_file("float32", source_path("samples/" + name + ".flac"), greedy_options(false));
    EXPECT_EQ(plain_text(transcript), expected_text(expected["greedy"])) << name;
    if (name == "silence") continue;
    EXPECT_EQ(transcript.language, expected["language"].get<std::string>());
  }
}

TEST(SampleTranscripts, TimestampsEqualTheReference) {
  const auto outputs = reference_outputs();
  const Tokenizer& tokenizer = model_of("float32").tokenizer();
  for (const auto& [name, expected] : outputs.items()) {
    const auto transcript =
        transcribe_file("float32", source_path("samples/" + name + ".flac"), greedy_options(true));
    EXPECT_EQ(timed_text(transcript, tokenizer),
              name == "silence" ? "" : expected["timestamps"].get<std::string>())
        << name;
  }
}

TEST(SampleTranscripts, BeamSearchEqualsTheReference) {
  const auto outputs = reference_outputs();
  Options options = greedy_options(false);
  options.beam_size = 5;
  for (const auto& [name, expected] : outputs.items()) {
    const auto transcript = transcribe_file("float32", source_path("samples/" + name + ".flac"), options);
    EXPECT_EQ(plain_text(transcript), expected_text(expected["beam5"])) << name;
  }
}

TEST(SampleTranscripts, Int8LosesLessThanHalfAPoint) {
  WordErrors exact, int8;
  size_t same = 0, total = 0;
  for (const auto& row : read_table(source_path("samples/refs.tsv"))) {
    const std::string reference = row.size() > 2 ? row[2] : "";
    const auto path = source_path("samples/" + row[0]);
    const std::string a = plain_text(transcribe_file("float32", path, greedy_options(false)));
    const std::string b = plain_text(transcribe_file("int8", path, greedy_options(false)));
    exact.add(reference, a);
    int8.add(reference, b);
    same += a == b ? 1 : 0;
    ++total;
  }
  RecordProperty("equal_texts", static_cast<int>(same));
  std::printf("samples: WER float32 %.2f%%, int8 %.2f%%, equal texts %zu of %zu\n", exact.percent(),
              int8.percent(), same, total);
  EXPECT_LE(int8.percent(), exact.percent() + 0.5);
}

// The devices other than the CPU, as a user reaches them: found, tested and chosen by their name.
TEST(SampleTranscripts, OtherDevicesWriteTheTokensOfTheCpu) {
  std::string absent;
  size_t compared = 0;
  for (const TestBackend* backend : whole_backends()) {
    if (backend->device == "cpu") continue;
    if (!backend->absent.empty()) {
      absent += fmt::format("{}: {}. ", backend->device, backend->absent);
      continue;
    }
    for (const char* type : {"float32", "float16"})
      for (const char* name : {"pico_en_short", "pico_de"}) {
        const auto path = source_path(std::string("samples/") + name + ".flac");
        const auto on_cpu = transcribe_file("float32", path, greedy_options(true));
        const auto there = transcribe_file(type, path, greedy_options(true), backend->device);
        ASSERT_EQ(there.segments.size(), on_cpu.segments.size()) << backend->name << " " << type;
        for (size_t i = 0; i < there.segments.size(); ++i)
          EXPECT_EQ(there.segments[i].tokens, on_cpu.segments[i].tokens) << backend->name << " " << type;
        ++compared;
      }
  }
  if (compared == 0) GTEST_SKIP() << "no other device can be tested here. " << absent;
}

// 120 utterances of people; they stay outside the repository.
class Librispeech : public ::testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(Librispeech, AgreesWithAnIndependentImplementation) {
  const char* given = std::getenv("SOTTO_SPEECH_DIR");
  const auto folder = given != nullptr
                          ? std::optional<std::filesystem::path>(std::filesystem::path(given) / "librispeech")
                          : shared_path("speech/librispeech");
  if (!folder || !std::filesystem::exists(*folder))
    GTEST_SKIP() << "the human recordings are not there (speech/librispeech beside the repository, or "
                    "SOTTO_SPEECH_DIR)";
  constexpr size_t kEvery = kSlowBuild ? 12 : 1;
  const auto [type, most_difference] = GetParam();
  if (std::string_view(type) == "float16" && std::getenv("SOTTO_TEST_EVERYTHING") == nullptr)
    GTEST_SKIP() << "float16 hears the human recordings in ./test --all only, to save a minute";
  Options options = greedy_options(false);
  options.language = "en";
  const auto truth = read_table(*folder / "refs.tsv");
  const auto reference = read_table(*folder / "nano_reference.tsv");
  ASSERT_EQ(truth.size(), reference.size());
  WordErrors ours, theirs;
  size_t equal = 0, total = 0, far = 0;
  for (size_t i = 0; i < truth.size(); i += kEvery) {
    ASSERT_EQ(truth[i][0], reference[i][0]);
    std::string text = plain_text(transcribe_file(type, *folder / truth[i][0], options));
    text.erase(0, text.find_first_not_of(' '));
    ours.add(truth[i][3], text);
    theirs.add(truth[i][3], reference[i][2]);
    equal += text == reference[i][2] ? 1 : 0;
    far += word_edits(normalised_words(text), normalised_words(reference[i][2])) > 2 ? 1 : 0;
    ++total;
  }
  std::printf(
      "librispeech %s: %zu of %zu texts equal, %zu differ by more than two words; WER %.2f%%, reference "
      "%.2f%% over %zu words\n",
      type, equal, total, far, ours.percent(), theirs.percent(), ours.words());
  if (kEvery == 1) {
    EXPECT_LE(std::abs(ours.percent() - theirs.percent()), most_difference);
    if (std::string(type) == "float32") {
      EXPECT_GE(equal, 112u);
      EXPECT_EQ(far, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Librispeech,
                         ::testing::Values(std::pair("float32", 0.3), std::pair("float16", 0.3),
                                           std::pair("int8", 0.5)),
                         [](const auto& test) { return test.param.first; });

}  // namespace
}  // namespace sotto::test
