// Audio that no one should have to transcribe: it must end, without a crash and without invented text.
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/transcriber.h"
#include "support/temporary_folder.h"

namespace sotto::test {
namespace {

constexpr bool kSlowBuild = SOTTO_SLOW_BUILD != 0;  // under a sanitizer: less of the same

LoadedModel& nano() {
  static LoadedModel model{Options()};
  return model;
}

Transcript run(std::vector<float> samples, Options options = {}) {
  const auto audio = audio_from_samples(std::move(samples));
  return transcribe(nano(), *audio, options);
}

std::vector<float> speech() {
  const auto source = open_audio(source_path("samples/pico_en_short.flac").string());
  std::vector<float> samples(10 * kSampleRate);
  samples.resize(source->read(samples));
  return samples;
}

std::string text_of(const Transcript& transcript) {
  std::string text;
  for (const Segment& segment : transcript.segments) text += segment.text;
  return text;
}

// Zeros without end in sight, made as they are asked for.
class Silence final : public AudioSource {
 public:
  explicit Silence(size_t samples) : left_(samples) {}
  size_t read(std::span<float> out) override {
    const size_t count = std::min(out.size(), left_);
    std::fill_n(out.begin(), count, 0.0f);
    left_ -= count;
    return count;
  }
  std::optional<double> duration() const override { return std::nullopt; }

 private:
  size_t left_;
};

class HostileAudio : public ::testing::TestWithParam<const char*> {
 protected:
  Options options(bool vad = true) const {
    Options options;
    options.mode = GetParam();
    options.vad = vad;
    return options;
  }
};

TEST_P(HostileAudio, NothingAtAll) {
  for (const bool vad : {true, false}) {
    const Transcript transcript = run({}, options(vad));
    EXPECT_TRUE(transcript.segments.empty());
    EXPECT_TRUE(transcript.complete);
    EXPECT_EQ(transcript.duration, 0);
  }
}

TEST_P(HostileAudio, TenMilliseconds) {
  for (const bool vad : {true, false}) EXPECT_NO_THROW(run(std::vector<float>(160, 0.1f), options(vad)));
}

TEST_P(HostileAudio, PureSilence) {
  EXPECT_EQ(text_of(run(std::vector<float>(40 * kSampleRate, 0.0f), options())), "");
}

TEST_P(HostileAudio, FaintNoiseOfTheSample) {
  const auto source = open_audio(source_path("samples/silence.flac").string());
  EXPECT_EQ(text_of(transcribe(nano(), *source, options())), "");
}

TEST_P(HostileAudio, PureNoise) {
  std::mt19937 random(3);
  std::vector<float> noise(35 * kSampleRate);
  for (float& sample : noise) sample = static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  EXPECT_EQ(text_of(run(noise, options())), "");
}

TEST_P(HostileAudio, ClippedAndShiftedSpeechIsStillHeard) {
  std::vector<float> clipped = speech(), shifted = speech();
  for (float& sample : clipped) sample = std::clamp(sample * 20, -1.0f, 1.0f);
  for (float& sample : shifted) sample += 0.3f;
  EXPECT_FALSE(text_of(run(clipped, options())).empty());
  EXPECT_FALSE(text_of(run(shifted, options())).empty());
}

TEST_P(HostileAudio, SamplesThatAreNoNumbers) {
  std::vector<float> samples = speech();
  for (size_t i = 0; i < samples.size(); i += 101) samples[i] = std::numeric_limits<float>::quiet_NaN();
  samples[7] = std::numeric_limits<float>::infinity();
  EXPECT_NO_THROW(run(samples, options()));
  EXPECT_NO_THROW(run(samples, options(false)));
}

TEST_P(HostileAudio, HoursOfSilence) {
  constexpr size_t kHours = kSlowBuild ? 0 : 2;
  Silence silence((kHours * 3600 + 90) * kSampleRate);
  const Transcript transcript = transcribe(nano(), silence, options());
  EXPECT_TRUE(transcript.segments.empty());
  EXPECT_DOUBLE_EQ(transcript.duration, kHours * 3600 + 90);
}

INSTANTIATE_TEST_SUITE_P(Modes, HostileAudio, ::testing::Values("sequential", "batched"),
                         [](const auto& test) { return std::string(test.param); });

TEST(Transcribing, StopsWhenAskedAndKeepsWhatIsDone) {
  std::vector<float> samples;
  for (int i = 0; i < 30; ++i) {
    const auto part = speech();
    samples.insert(samples.end(), part.begin(), part.end());
  }
  const auto audio = audio_from_samples(samples);
  bool stop = false;
  TranscribeCallbacks callbacks;
  callbacks.on_segment = [&](const Segment&) { stop = true; };
  callbacks.should_stop = [&] { return stop; };
  const Transcript transcript = transcribe(nano(), *audio, {}, callbacks);
  EXPECT_FALSE(transcript.complete);
  EXPECT_FALSE(transcript.segments.empty());
  EXPECT_LT(transcript.duration, static_cast<double>(samples.size()) / kSampleRate);
}

TEST(Transcribing, AResumedRunEqualsAnUninterruptedOne) {
  std::vector<float> samples;
  std::vector<const char*> names{"bdl_en_long",       "slt_en",           "espeak_en",
                                 "dialogue_pico_bdl", "dialogue_clb_rms", "commands_clb"};
  if (kSlowBuild) names.resize(3);
  for (const char* name : names) {
    const auto source = open_audio(source_path(std::string("samples/") + name + ".flac").string());
    std::vector<float> part(60 * kSampleRate);
    part.resize(source->read(part));
    samples.insert(samples.end(), part.begin(), part.end());
    samples.resize(samples.size() + 3 * kSampleRate, 0.0f);
  }
  for (const char* mode : {"sequential", "batched"}) {
    const TemporaryFolder folder;
    Options options;
    options.mode = mode;
    options.word_timestamps = true;
    const Transcript whole = run(samples, options);
    options.checkpoint = (folder / "run.jsonl").string();
    // Stop after 1, 2, 3... new segments, each time going on from where the last run stopped.
    Transcript resumed;
    for (int runs = 0; runs < 50; ++runs) {
      options.resume = runs > 0;
      const auto audio = audio_from_samples(samples);
      int fresh = 0;
      const size_t before = resumed.segments.size();
      TranscribeCallbacks callbacks;
      callbacks.on_segment = [&](const Segment& segment) {
        fresh += segment.id >= static_cast<int>(before) ? 1 : 0;
      };
      callbacks.should_stop = [&] { return fresh > 0; };
      resumed = transcribe(nano(), *audio, options, callbacks, "the input");
      if (resumed.complete) break;
    }
    ASSERT_TRUE(resumed.complete) << mode;
    ASSERT_EQ(resumed.segments.size(), whole.segments.size()) << mode;
    for (size_t i = 0; i < whole.segments.size(); ++i) {
      const Segment &a = resumed.segments[i], &b = whole.segments[i];
      EXPECT_EQ(a.id, b.id);
      EXPECT_EQ(a.text, b.text);
      EXPECT_EQ(a.tokens, b.tokens);
      EXPECT_EQ(a.start, b.start);
      EXPECT_EQ(a.end, b.end);
      EXPECT_EQ(a.average_log_probability, b.average_log_probability);
      ASSERT_EQ(a.words.size(), b.words.size());
      for (size_t w = 0; w < a.words.size(); ++w) EXPECT_EQ(a.words[w].start, b.words[w].start);
    }
    EXPECT_FALSE(std::filesystem::exists(folder / "run.jsonl"));
  }
}

TEST(Transcribing, FilesSideBySideEqualSingleRuns) {
  std::vector<std::string> names{"bdl_en_long",      "slt_en",       "espeak_en", "dialogue_pico_bdl",
                                 "dialogue_clb_rms", "commands_clb", "pico_de",   "noisy_gb_10db"};
  if (kSlowBuild) names.resize(3);
  const auto transcribe_one = [](const std::string& name, bool words) {
    Options options;
    options.word_timestamps = words;
    const auto source = open_audio(source_path("samples/" + name + ".flac").string());
    return transcribe(nano(), *source, options);
  };
  std::vector<Transcript> alone, together(names.size());
  for (const std::string& name : names) alone.push_back(transcribe_one(name, true));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < names.size(); ++i)
    threads.emplace_back([&, i] { together[i] = transcribe_one(names[i], true); });
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < names.size(); ++i) {
    ASSERT_EQ(together[i].segments.size(), alone[i].segments.size()) << names[i];
    EXPECT_EQ(together[i].language_probability, alone[i].language_probability);
    for (size_t s = 0; s < alone[i].segments.size(); ++s) {
      const Segment &a = together[i].segments[s], &b = alone[i].segments[s];
      EXPECT_EQ(a.tokens, b.tokens) << names[i];
      EXPECT_EQ(a.average_log_probability, b.average_log_probability);
      EXPECT_EQ(a.no_speech_probability, b.no_speech_probability);
      ASSERT_EQ(a.words.size(), b.words.size());
      for (size_t w = 0; w < a.words.size(); ++w) EXPECT_EQ(a.words[w].probability, b.words[w].probability);
    }
  }
}

}  // namespace
}  // namespace sotto::test
