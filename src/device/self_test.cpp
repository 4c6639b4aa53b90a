#include "device/self_test.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <span>

#include "audio/mel.h"
#include "backend/cpu/cpu_backend.h"
#include "base/error.h"
#include "device/compute_types.h"
#include "device/messages.h"
#include "model/store.h"
#include "whisper/network.h"
#include "whisper/tokenizer.h"

extern "C" const std::byte sotto_self_test_clip_begin[];
extern "C" const std::byte sotto_self_test_clip_end[];

namespace sotto {
namespace {

constexpr std::string_view kSentence = " He still kept his eyes fixed on him as he spoke.";

std::vector<float> clip_samples() {
  const std::span bytes(sotto_self_test_clip_begin, sotto_self_test_clip_end);
  std::vector<float> samples(bytes.size() / sizeof(int16_t));
  for (size_t i = 0; i < samples.size(); ++i) {
    int16_t sample = 0;
    std::memcpy(&sample, bytes.data() + i * sizeof(sample), sizeof(sample));
    samples[i] = static_cast<float>(sample) / 32768.0f;
  }
  return samples;
}

// What comes out of the decoder: all logits along the known sentence, and the text that greedy decoding
// writes.
struct Hearing {
  std::vector<float> logits;
  std::string text;
};

double relative_error(std::span<const float> values, std::span<const float> expected, size_t row) {
  if (values.size() != expected.size() || row == 0) return std::numeric_limits<double>::infinity();
  double difference = 0, size = 0;
  for (size_t begin = 0; begin < values.size(); begin += row) {
    double mean = 0, expected_mean = 0;  // softmax does not see them
    for (size_t i = begin; i < begin + row; ++i) mean += values[i], expected_mean += expected[i];
    mean /= static_cast<double>(row), expected_mean /= static_cast<double>(row);
    for (size_t i = begin; i < begin + row; ++i) {
      const double wanted = expected[i] - expected_mean, is = values[i] - mean;
      difference += (is - wanted) * (is - wanted);
      size += wanted * wanted;
    }
  }
  const double error = std::sqrt(difference / size);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

}  // namespace

struct SelfTest::State {
  Checkpoint checkpoint = open_checkpoint("nano");
  Tokenizer tokenizer{checkpoint.vocabulary};
  std::vector<TokenId> start, sentence;
  std::vector<float> mel;
  Hearing expected;

  State() {
    const SpecialTokens& special = tokenizer.special();
    start = {special.start, tokenizer.language_token("en").value(), special.transcribe,
             special.no_timestamps};
    sentence = tokenizer.encode(kSentence);
    const auto audio = audio_from_samples(clip_samples());
    MelStream stream(*audio, checkpoint.config.mel_bins);
    mel.resize(static_cast<size_t>(kWindowFrames) * static_cast<size_t>(checkpoint.config.mel_bins));
    stream.window(0, mel);
    const auto cpu = make_cpu_backend({.compute_type = ComputeType::float32});
    expected = hear(*cpu);
  }

  Hearing hear(Backend& backend) const {
    const Network network(backend, checkpoint);
    Session session(network, 1, 2);
    session.encode(0, mel);
    std::vector<DecodeRow> rows;
    for (const auto& tokens : {start, sentence})
      for (const TokenId token : tokens) rows.push_back({token, static_cast<int32_t>(rows.size()), 0, 0});
    Hearing hearing;
    hearing.logits = session.logits(rows);
    hearing.text = tokenizer.decode(greedy(session));
    return hearing;
  }

  std::vector<TokenId> greedy(Session& session) const {
    constexpr int kSlot = 1;  // the other one holds the known sentence
    std::vector<DecodeRow> rows;
    for (const TokenId token : start) rows.push_back({token, static_cast<int32_t>(rows.size()), kSlot, 0});
    int32_t position = static_cast<int32_t>(rows.size());
    const std::array banned{TokenRange{tokenizer.special().end + 1, checkpoint.config.vocabulary}};
    std::vector<TokenId> tokens;
    while (tokens.size() < 2 * sentence.size()) {
      SamplePoint point{rows.size() - 1, {}};
      point.request.banned = banned;
      const TokenId token = session.decode(rows, std::array{point}).front().candidates.front().token;
      if (token == tokenizer.special().end) break;
      tokens.push_back(token);
      rows = {{token, position++, kSlot, 0}};
    }
    return tokens;
  }
};

SelfTest::SelfTest() : state_(std::make_unique<State>()) {}
SelfTest::~SelfTest() = default;

SelfTestResult SelfTest::run(Backend& backend) const {
  SelfTestResult result;
  result.bound = self_test_bound(backend.compute_type());
  result.expected = state_->expected.text;
  try {
    const Hearing heard = state_->hear(backend);
    result.text = heard.text;
    result.error = relative_error(heard.logits, state_->expected.logits,
                                  static_cast<size_t>(state_->checkpoint.config.vocabulary));
  } catch (const Error& error) {
    result.text = error.what();
    result.error = std::numeric_limits<double>::infinity();
  }
  result.passed = result.error <= result.bound && result.text == result.expected;
  return result;
}

double SelfTest::encode_seconds(Backend& backend) const {
  using Clock = std::chrono::steady_clock;
  const Network network(backend, state_->checkpoint);
  Session session(network, 1, 1);
  double best = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 4; ++run) {
    const auto begin = Clock::now();
    session.encode(0, state_->mel);
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return best;
}

DeviceTiming SelfTest::time(Backend& backend) const {
  const auto cpu = make_cpu_backend({});
  return {encode_seconds(backend), encode_seconds(*cpu)};
}

// Room for a device that keeps activations in the type as well as the weights. The CPU, which rounds the
// weights alone, was measured at 0.00015 (float16), 0.0033 (bfloat16) and 0.03 (int8); a wrong kernel is off
// by far more.
double self_test_bound(ComputeType type) noexcept {
  switch (type) {
    case ComputeType::float32:
      return 1e-3;
    case ComputeType::float16:
      return 1e-2;
    case ComputeType::bfloat16:
      return 5e-2;
    default:
      return 1e-1;  // 8-bit weights
  }
}

std::optional<Finding> check_trust(const Device& device, Backend& backend, const SelfTestCache& cache) {
  if (device.kind == DeviceKind::cpu) return std::nullopt;
  auto result = cache.find(device, backend.compute_type());
  if (!result) {
    const SelfTest test;
    result = test.run(backend);
    if (result->passed) result->timing = test.time(backend);
    cache.store(device, backend.compute_type(), *result);
  }
  if (result->passed) return std::nullopt;
  return distrust(device, backend.compute_type(), *result);
}

void recall_self_tests(Catalogue& catalogue, const SelfTestCache& cache) {
  for (Device& device : catalogue.devices) {
    if (device.obstacle || device.kind == DeviceKind::cpu) continue;
    const ComputeType type = choose_compute_type(device, ComputeType::automatic);
    const auto result = cache.find(device, type);
    if (!result) continue;
    device.timing = result->timing;
    if (!result->passed) device.obstacle = distrust(device, type, *result);
  }
}

Finding distrust(const Device& device, ComputeType type, const SelfTestResult& result) {
  return {FindingCode::self_test_failed, device.name, words::self_test_figures(type, result)};
}

}  // namespace sotto
