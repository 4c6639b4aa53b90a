// The network against vectors computed by the reference implementation (torch and transformers, float32).
// tests/golden/data is a copy of the nano model's vectors; the micro models' lie beside the repository.
#include "whisper/network.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "model/reader.h"
#include "support/npz.h"
#include "support/temporary_folder.h"
#include "support/test_backends.h"
#include "whisper/language_detection.h"
#include "whisper/search.h"

namespace sotto::test {
namespace {

using Arrays = std::map<std::string, NpyArray>;

// The largest difference over the largest reference value.
double relative_error(std::span<const float> values, std::span<const float> reference) {
  EXPECT_EQ(values.size(), reference.size());
  double difference = 0, scale = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    difference = std::max(difference, std::abs(static_cast<double>(values[i]) - reference[i]));
    scale = std::max(scale, std::abs(static_cast<double>(reference[i])));
  }
  return difference / scale;
}

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

// Frames are rows for us; the reference stores mels x frames.
std::vector<float> frame_major(const NpyArray& mel) {
  const size_t bins = mel.shape[0], frames = mel.shape[1];
  std::vector<float> out(bins * frames);
  for (size_t b = 0; b < bins; ++b)
    for (size_t f = 0; f < frames; ++f) out[f * bins + b] = mel.floats[b * frames + f];
  return out;
}

std::vector<float> chosen_rows(std::span<const float> values, std::span<const int64_t> rows, size_t width) {
  std::vector<float> out;
  for (const int64_t row : rows)
    out.insert(out.end(), values.begin() + row * static_cast<int64_t>(width),
               values.begin() + (row + 1) * static_cast<int64_t>(width));
  return out;
}

std::vector<DecodeRow> forced_rows(std::span<const int64_t> ids) {
  std::vector<DecodeRow> rows;
  for (const int64_t id : ids)
    rows.push_back({static_cast<int32_t>(id), static_cast<int32_t>(rows.size()), 0, 0});
  return rows;
}

class GoldenNetwork {
 public:
  GoldenNetwork(const Checkpoint& checkpoint, const BackendCase& on)
      : every_layer(on.backend->device == "cpu"),
        bounds(on.type.bounds),
        network(shared_backend(on, 2), checkpoint),
        session(network, 1, 5) {}
  const bool every_layer;  // where a test has the time to look at each
  const Bounds bounds;
  Network network;
  Session session;
};

// Encoder states before the first layer, before each layer (their norms) and at the end.
void check_encoder(GoldenNetwork& golden, const Arrays& arrays, std::span<const float> mel) {
  const auto width = static_cast<size_t>(golden.network.config().width);
  const std::vector<int64_t>& frames = arrays.at("frames").ints;
  const auto first = golden.session.encoder_states(mel, 0);
  const auto last = golden.session.encoder_states(mel);
  EXPECT_LT(relative_error(chosen_rows(first, frames, width), arrays.at("enc_hidden0").floats),
            golden.bounds.network);
  EXPECT_LT(relative_error(chosen_rows(last, frames, width), arrays.at("enc_out").floats),
            golden.bounds.network);
  const std::vector<float>& norms = arrays.at("enc_norms").floats;
  for (size_t layer = 0; golden.every_layer && layer + 1 < norms.size(); ++layer)
    EXPECT_NEAR(norm(golden.session.encoder_states(mel, static_cast<int>(layer))) / norms[layer], 1,
                golden.bounds.network)
        << layer;
  EXPECT_NEAR(norm(last) / norms.back(), 1, golden.bounds.network);
}

// A backend and a sample or a model.
struct GoldenCase {
  const TestBackend* backend;
  std::string data;
};

// All of them; on Vulkan, which is mostly a software driver here, the last one.
std::vector<GoldenCase> golden_cases(std::initializer_list<const char*> names) {
  std::vector<GoldenCase> cases;
  for (const TestBackend* backend : whole_backends())
    for (const char* name : names)
      if (backend->device != "vulkan" || name == *(names.end() - 1)) cases.push_back({backend, name});
  return cases;
}

std::string golden_case_name(const ::testing::TestParamInfo<GoldenCase>& info) {
  return info.param.backend->name + "_" + info.param.data;
}

class OnGolden : public ::testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override {
    if (!GetParam().backend->absent.empty()) GTEST_SKIP() << GetParam().backend->absent;
  }
  void TearDown() override { EXPECT_EQ(GetParam().backend->complaints(), ""); }

  const std::string& data() const { return GetParam().data; }
  // In float32, or in the first type that the backend has: tensor cores take 16 bits only.
  BackendCase exact() const {
    const auto& types = GetParam().backend->types;
    const auto found = std::find_if(types.begin(), types.end(),
                                    [](const TestType& type) { return type.type == ComputeType::float32; });
    return {GetParam().backend, found == types.end() ? types.front() : *found};
  }
};

class NanoGolden : public OnGolden {
 protected:
  void SetUp() override {
    OnGolden::SetUp();
    const auto folder = source_path("tests/golden/data");
    arrays_ = read_npz(folder / ("nano_" + data() + ".npz"));
    std::ifstream file(folder / ("nano_" + data() + ".json"));
    facts_ = nlohmann::json::parse(file);
    mel_ = frame_major(arrays_.at("mel"));
  }

  std::vector<TokenId> ids(const char* name) const { return facts_.at(name).get<std::vector<TokenId>>(); }

  // The settings of `generate` in the reference.
  SearchSettings settings(bool timestamps) const {
    SearchSettings settings;
    const SpecialTokens& special = tokenizer_.special();
    settings.start = {special.start, *tokenizer_.language_token(facts_.at("language").get<std::string>()),
                      special.transcribe};
    if (!timestamps) settings.start.push_back(special.no_timestamps);
    settings.timestamps = timestamps;
    settings.suppressed = *checkpoint_.generation.suppress_tokens;
    settings.begin_suppressed = *checkpoint_.generation.begin_suppress_tokens;
    return settings;
  }

  SearchResult search(GoldenNetwork& golden, const SearchSettings& with) const {
    Search search(tokenizer_, golden.network.config(), with, {0, 1, 2, 3, 4}, 0);
    EXPECT_TRUE(run_search(golden.session, search, [] { return false; }));
    return search.result();
  }

  // Token ids as `generate` returns them: with the start tokens and the end.
  std::vector<TokenId> generated(const SearchSettings& with, const SearchResult& result) const {
    std::vector<TokenId> all = with.start;
    all.insert(all.end(), result.tokens.begin(), result.tokens.end());
    all.push_back(tokenizer_.special().end);
    return all;
  }

  Arrays arrays_;
  nlohmann::json facts_;
  std::vector<float> mel_;
  const Checkpoint checkpoint_ = embedded_checkpoint();
  const Tokenizer tokenizer_{checkpoint_.vocabulary};
};

TEST_P(NanoGolden, EncoderAndLogits) {
  GoldenNetwork golden(checkpoint_, exact());
  check_encoder(golden, arrays_, mel_);
  golden.session.encode(0, mel_);
  const auto rows = forced_rows(arrays_.at("forced_ids").ints);
  EXPECT_LT(relative_error(golden.session.logits(rows), arrays_.at("forced_logits").floats),
            golden.bounds.network);
}

TEST_P(NanoGolden, GreedyTokens) {
  GoldenNetwork golden(checkpoint_, exact());
  golden.session.encode(0, mel_);
  const SearchResult plain = search(golden, settings(false));
  EXPECT_EQ(generated(settings(false), plain), ids("greedy"));
  EXPECT_NEAR(plain.no_speech_probability, facts_.at("no_speech_prob").get<double>(),
              golden.bounds.probability);
  EXPECT_EQ(search(golden, settings(true)).tokens, ids("greedy_ts"));
}

TEST_P(NanoGolden, Languages) {
  GoldenNetwork golden(checkpoint_, exact());
  golden.session.encode(0, mel_);
  const auto languages = detect_language(golden.session, tokenizer_, 0, 0);
  EXPECT_EQ(languages.size(), facts_.at("language_probs").size());
  for (const LanguageProbability& language : languages)
    EXPECT_NEAR(language.probability,
                facts_.at("language_probs").at("<|" + language.code + "|>").get<double>(),
                golden.bounds.probability);
  EXPECT_EQ(languages.front().code, facts_.at("language").get<std::string>());
}

TEST_P(NanoGolden, BeamSearch) {
  GoldenNetwork golden(checkpoint_, exact());
  golden.session.encode(0, mel_);
  SearchSettings beams = settings(false);
  beams.beams = 5;
  const SearchResult result = search(golden, beams);
  EXPECT_EQ(generated(beams, result), ids("beam5"));
  EXPECT_NEAR(result.average_log_probability, facts_.at("beam5_score").get<double>(), golden.bounds.score);
}

TEST_P(NanoGolden, NarrowTypesWriteTheSameTokens) {
  for (const TestType& type : GetParam().backend->types) {
    // The operations' tests look at int8 beside halves; here it would say nothing new.
    if (type.type == ComputeType::float32 || type.type == ComputeType::int8_float16) continue;
    GoldenNetwork golden(checkpoint_, {GetParam().backend, type});
    golden.session.encode(0, mel_);
    EXPECT_EQ(generated(settings(false), search(golden, settings(false))), ids("greedy"))
        << compute_type_name(type.type);
  }
}

INSTANTIATE_TEST_SUITE_P(Samples, NanoGolden,
                         ::testing::ValuesIn(golden_cases({"dialogue_pico_bdl", "pico_de", "pico_en_short"})),
                         golden_case_name);

// Random weights in the layouts of the official releases: 51865 tokens and 80 mels, 51866 and 128.
using MicroGolden = OnGolden;

TEST_P(MicroGolden, EncoderLogitsAndTokens) {
  const auto folder = shared_path("fixtures/" + data());
  if (!folder)
    GTEST_SKIP() << "the micro models are not there (fixtures/" << data() << " beside the repository)";
  const Arrays arrays = read_npz(*folder / "expected.npz");
  const std::vector<float> mel = frame_major(read_npy(*folder / "mel.npy"));
  std::ifstream file(*folder / "ids.json");
  const auto ids = nlohmann::json::parse(file);
  const Checkpoint checkpoint = read_hugging_face_weights(*folder);
  GoldenNetwork golden(checkpoint, exact());
  check_encoder(golden, arrays, mel);

  golden.session.encode(0, mel);
  const auto vocabulary = static_cast<size_t>(golden.network.config().vocabulary);
  const auto& forced = arrays.at("forced_ids").ints;
  const std::vector<float> logits = golden.session.logits(forced_rows(forced));
  const auto first_special = ids.at("eot").get<size_t>();
  std::vector<float> top, special;
  for (size_t row = 0; row < forced.size(); ++row) {
    const auto values = std::span(logits).subspan(row * vocabulary, vocabulary);
    top.insert(top.end(), values.begin(), values.begin() + 2000);
    special.insert(special.end(), values.begin() + static_cast<ptrdiff_t>(first_special), values.end());
    double sum = 0;
    for (const float value : values) sum += std::exp(static_cast<double>(value));
    EXPECT_NEAR(std::log(sum), arrays.at("forced_logsumexp").floats[row], golden.bounds.network);
    EXPECT_EQ(std::max_element(values.begin(), values.end()) - values.begin(),
              arrays.at("forced_argmax").ints[row]);
  }
  EXPECT_LT(relative_error(top, arrays.at("forced_logits_top").floats), golden.bounds.network);
  EXPECT_LT(relative_error(special, arrays.at("forced_logits_special").floats), golden.bounds.network);

  // Plain argmax steps from the first four tokens, with nothing suppressed.
  const auto& expected = arrays.at("greedy_raw").ints;
  std::vector<int64_t> written(forced.begin(), forced.begin() + 4);
  auto rows = forced_rows(written);
  while (written.size() < expected.size()) {
    const std::vector<SamplePoint> point{{rows.size() - 1, {}}};
    const auto token = golden.session.decode(rows, point).front().candidates.front().token;
    rows = {{token, static_cast<int32_t>(written.size()), 0, 0}};
    written.push_back(token);
  }
  EXPECT_EQ(written, expected);
}

TEST_P(MicroGolden, LanguageAndNoSpeechProbabilities) {
  const auto folder = shared_path("fixtures/" + data());
  if (!folder)
    GTEST_SKIP() << "the micro models are not there (fixtures/" << data() << " beside the repository)";
  const Arrays arrays = read_npz(*folder / "expected.npz");
  std::ifstream file(*folder / "ids.json");
  const auto ids = nlohmann::json::parse(file);
  const Checkpoint checkpoint = read_hugging_face_weights(*folder);
  GoldenNetwork golden(checkpoint, exact());
  golden.session.encode(0, frame_major(read_npy(*folder / "mel.npy")));

  const auto& expected = arrays.at("language_probs").floats;
  const auto first = ids.at("en").get<int32_t>(), last = first + static_cast<int32_t>(expected.size());
  const std::vector<TokenRange> others{{0, first}, {last, checkpoint.config.vocabulary}};
  SampleRequest request;
  request.banned = others;
  request.candidates = static_cast<int>(expected.size());
  request.probe = ids.at("nospeech").get<int32_t>();
  const std::vector<DecodeRow> rows{{ids.at("sot").get<int32_t>(), 0, 0, 0}};
  const std::vector<SamplePoint> points{{0, request}};
  const SampleResult result = golden.session.decode(rows, points).front();
  ASSERT_EQ(result.candidates.size(), expected.size());
  for (const Candidate& candidate : result.candidates)
    EXPECT_NEAR(std::exp(candidate.log_probability), expected[static_cast<size_t>(candidate.token - first)],
                golden.bounds.probability);
  EXPECT_NEAR(result.probe_probability, arrays.at("no_speech_prob").floats[0], golden.bounds.probability);
}

INSTANTIATE_TEST_SUITE_P(Layouts, MicroGolden,
                         ::testing::ValuesIn(golden_cases({"micro_v2_51865", "micro_v3_51866"})),
                         golden_case_name);

}  // namespace
}  // namespace sotto::test
