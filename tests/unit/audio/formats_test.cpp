// Every kind of file that people have: containers, codecs, sample types, rates, channels and tracks.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "audio/audio_source.h"
#include "support/temporary_folder.h"
#include "unit/audio/audio_tools.h"

namespace sotto::test {
namespace {

constexpr double kToneAmplitude = 0.125;  // of ffmpeg's sine source

std::string tone(int hz, double seconds, int rate) {
  return fmt::format("-f lavfi -i sine=frequency={}:duration={}:sample_rate={} ", hz, seconds, rate);
}

struct FormatCase {
  std::string file;
  std::string encoding;
  int rate = 44100;
};

std::ostream& operator<<(std::ostream& out, const FormatCase& format) {
  return out << format.file;
}

class Formats : public testing::TestWithParam<FormatCase> {};

TEST_P(Formats, GiveTheSameTone) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  const std::string path = (folder / GetParam().file).string();
  ASSERT_TRUE(run_ffmpeg(tone(440, 3, GetParam().rate) + GetParam().encoding + " " + path));

  const auto source = open_audio(path);
  const std::vector<float> samples = read_all(*source);
  EXPECT_NEAR(static_cast<double>(samples.size()) / kSampleRate, 3, 0.08);
  EXPECT_NEAR(tone_amplitude(cut(samples, 0.5, 2.5), 440), kToneAmplitude, 0.01);
  EXPECT_LT(tone_amplitude(cut(samples, 0.5, 2.5), 550), 0.005);
  EXPECT_THAT(source->damage(), testing::IsEmpty());
  if (!GetParam().file.ends_with(".aac")) {  // raw AAC does not say how long it is
    ASSERT_TRUE(source->duration().has_value());
    EXPECT_NEAR(*source->duration(), 3, 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Formats,
    testing::Values(FormatCase{"s16.wav", "-c:a pcm_s16le"}, FormatCase{"s24.wav", "-c:a pcm_s24le"},
                    FormatCase{"s32.wav", "-c:a pcm_s32le"}, FormatCase{"u8.wav", "-c:a pcm_u8"},
                    FormatCase{"f32.wav", "-c:a pcm_f32le"}, FormatCase{"f64.wav", "-c:a pcm_f64le"},
                    FormatCase{"mulaw_8000.wav", "-c:a pcm_mulaw", 8000},
                    FormatCase{"adpcm.wav", "-c:a adpcm_ms"}, FormatCase{"rate_8000.wav", "", 8000},
                    FormatCase{"rate_16000.wav", "", 16000}, FormatCase{"rate_48000.wav", "", 48000},
                    FormatCase{"rate_96000.flac", "", 96000}, FormatCase{"a.aiff", ""},
                    FormatCase{"a.mp3", "-b:a 64k"}, FormatCase{"a.ogg", "-c:a libvorbis"},
                    FormatCase{"a.opus", "-c:a libopus", 48000}, FormatCase{"a.webm", "-c:a libopus", 48000},
                    FormatCase{"a.m4a", "-c:a aac"}, FormatCase{"a.aac", "-c:a aac"},
                    FormatCase{"a.flac", ""}, FormatCase{"a.wma", "-c:a wmav2"},
                    FormatCase{"a.mka", "-c:a ac3"}, FormatCase{"a.ts", "-c:a mp2", 48000},
                    FormatCase{"a.caf", "-c:a pcm_s16be"}, FormatCase{"a.wv", "-c:a wavpack"},
                    FormatCase{"four_channels.wav", "-af 'pan=4c|c0=c0|c1=c0|c2=c0|c3=c0'"}));

TEST(AudioFile, EqualsWhatTheFfmpegProgramMakesOfAStereoFile) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  const std::string path = (folder / "stereo.wav").string(), raw = (folder / "mono.raw").string();
  ASSERT_TRUE(run_ffmpeg(tone(440, 2, 44100) + tone(1000, 2, 44100) +
                         "-filter_complex [0][1]amerge -c:a pcm_s16le " + path));
  ASSERT_TRUE(run_ffmpeg("-i " + path + " -ac 1 -ar 16000 -f s16le " + raw));
  const std::vector<std::byte> expected = read_file(raw);
  const std::vector<float> samples = read_all(*open_audio(path));
  ASSERT_EQ(samples.size(), expected.size() / 2);
  for (size_t i = 0; i < samples.size(); ++i) {
    int16_t value;
    std::memcpy(&value, expected.data() + 2 * i, sizeof value);
    ASSERT_NEAR(samples[i], value / 32768.0, 2.5 / 32768) << "sample " << i;
  }
}

TEST(AudioFile, GivesOneChannelOrTheMix) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  const std::string path = (folder / "stereo.flac").string();
  ASSERT_TRUE(
      run_ffmpeg(tone(440, 1, 48000) + tone(1000, 1, 48000) + "-filter_complex [0][1]amerge " + path));
  const auto amplitudes = [&](int channel) {
    const std::vector<float> samples = read_all(*open_audio(path, {.channel = channel}));
    EXPECT_EQ(samples.size(), 16000U);
    return std::pair(tone_amplitude(samples, 440), tone_amplitude(samples, 1000));
  };
  using testing::DoubleNear;
  using testing::Pair;
  EXPECT_THAT(amplitudes(0), Pair(DoubleNear(kToneAmplitude, 0.01), DoubleNear(0, 0.005)));
  EXPECT_THAT(amplitudes(1), Pair(DoubleNear(0, 0.005), DoubleNear(kToneAmplitude, 0.01)));
  EXPECT_THAT(amplitudes(-1),
              Pair(DoubleNear(kToneAmplitude / 2, 0.005), DoubleNear(kToneAmplitude / 2, 0.005)));

  const Refusal refusal = refusal_of(path, {.channel = 2});
  EXPECT_EQ(refusal.code, ErrorCode::bad_audio);
  EXPECT_THAT(refusal.message, testing::AllOf(testing::HasSubstr(path), testing::HasSubstr("2 channel(s)")));
}

TEST(AudioFile, AveragesChannelsWithoutKnownPlaces) {
  constexpr int kChannels = 11;
  std::vector<int16_t> data(16000 * kChannels);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int16_t>(i % kChannels == 3 ? 11000 : 0);
  const TemporaryFolder folder;
  write_file(folder / "eleven.wav", wav_bytes({.channels = kChannels}, std::as_bytes(std::span(data))));
  const std::string path = (folder / "eleven.wav").string();
  const std::vector<float> mix = read_all(*open_audio(path));
  ASSERT_EQ(mix.size(), 16000U);
  EXPECT_NEAR(mix[8000], 1000.0 / 32768, 1e-4);
  EXPECT_NEAR(read_all(*open_audio(path, {.channel = 3}))[8000], 11000.0 / 32768, 1e-4);
  EXPECT_NEAR(read_all(*open_audio(path, {.channel = 4}))[8000], 0, 1e-4);
}

TEST(AudioFile, PicksTracksOfAVideo) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  const std::string path = (folder / "video.mkv").string();
  ASSERT_TRUE(run_ffmpeg("-f lavfi -i testsrc=duration=2:size=64x48:rate=10 " + tone(440, 2, 48000) +
                         tone(1000, 2, 44100) + "-map 0 -map 1 -map 2 -c:v mpeg4 -c:a:0 aac -c:a:1 flac " +
                         "-metadata:s:a:1 language=deu " + path));
  EXPECT_NEAR(tone_amplitude(read_all(*open_audio(path)), 440), kToneAmplitude, 0.01);
  EXPECT_NEAR(tone_amplitude(read_all(*open_audio(path, {.track = 1})), 1000), kToneAmplitude, 0.01);
  for (const int track : {2, -1}) {
    const Refusal refusal = refusal_of(path, {.track = track});
    EXPECT_EQ(refusal.code, ErrorCode::bad_audio);
    EXPECT_THAT(refusal.message, testing::AllOf(testing::HasSubstr("0: aac, 48000 Hz"),
                                                testing::HasSubstr("1: flac, 44100 Hz, 1 channel(s), deu")));
  }
}

TEST(AudioFile, KeepsTheTimesOfTheVideo) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  const std::string path = (folder / "late.mkv").string();
  ASSERT_TRUE(run_ffmpeg("-f lavfi -i testsrc=duration=4:size=64x48:rate=10 -itsoffset 1.5 " +
                         tone(440, 2, 48000) + "-c:v mpeg4 -c:a flac " + path));
  const auto source = open_audio(path);
  const std::vector<float> samples = read_all(*source);
  EXPECT_NEAR(static_cast<double>(samples.size()) / kSampleRate, 3.5, 0.02);
  EXPECT_LT(tone_amplitude(cut(samples, 0, 1.45), 440), 0.001);
  EXPECT_NEAR(tone_amplitude(cut(samples, 1.55, 3.4), 440), kToneAmplitude, 0.01);
  EXPECT_THAT(source->damage(), testing::IsEmpty());
}

TEST(AudioFile, FollowsAChangeOfRateAndChannels) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  ASSERT_TRUE(run_ffmpeg(tone(440, 2, 48000) + "-af 'pan=stereo|c0=c0|c1=c0' -c:a mp2 " +
                         (folder / "1.mp2").string()));
  ASSERT_TRUE(run_ffmpeg(tone(440, 2, 32000) + "-c:a mp2 " + (folder / "2.mp2").string()));
  std::vector<std::byte> joined = read_file(folder / "1.mp2");
  const std::vector<std::byte> second = read_file(folder / "2.mp2");
  joined.insert(joined.end(), second.begin(), second.end());
  write_file(folder / "joined.mp2", joined);
  const std::vector<float> samples = read_all(*open_audio((folder / "joined.mp2").string()));
  EXPECT_NEAR(static_cast<double>(samples.size()) / kSampleRate, 4, 0.1);
  EXPECT_NEAR(tone_amplitude(cut(samples, 0.2, 1.8), 440), kToneAmplitude, 0.01);
  EXPECT_NEAR(tone_amplitude(cut(samples, 2.3, 3.8), 440), kToneAmplitude, 0.01);
}

// Puts a file in the place of standard input for as long as it lives.
class StandardInput {
 public:
  explicit StandardInput(const std::filesystem::path& path) : saved_(dup(STDIN_FILENO)) {
    const int file = open(path.c_str(), O_RDONLY);
    dup2(file, STDIN_FILENO);
    close(file);
  }
  ~StandardInput() {
    dup2(saved_, STDIN_FILENO);
    close(saved_);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;

 private:
  int saved_;
};

TEST(AudioFile, ReadsStandardInput) {
  const std::filesystem::path path = source_path("samples/pico_en_short.flac");
  const std::vector<float> expected = read_all(*open_audio(path.string()));
  const StandardInput input(path);
  const std::vector<float> samples = read_all(*open_audio("-"));
  EXPECT_EQ(expected.size(), 69270U);
  EXPECT_EQ(samples, expected);
}

TEST(AudioFile, SaysThatStandardInputIsEmpty) {
  const StandardInput input("/dev/null");
  EXPECT_THAT(refusal_of("-").message, testing::HasSubstr("Standard input is empty"));
}

TEST(AudioFile, TakesAWavOfUnknownLengthFromAPipe) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  const std::string path = (folder / "streamed.wav").string();
  ASSERT_EQ(
      std::system(("ffmpeg -nostdin -v quiet " + tone(440, 2, 16000) + "-f wav - | cat > " + path).c_str()),
      0);
  const StandardInput input(path);
  const auto source = open_audio("-");
  EXPECT_EQ(read_all(*source).size(), 32000U);
  EXPECT_THAT(source->damage(), testing::IsEmpty());
}

TEST(AudioFile, OpensNamesThatLookLikeAddresses) {
  const TemporaryFolder folder;
  for (const char* name : {"http:a.wav", "concat:b|c", "100% %d.wav", "a\nb.wav"}) {
    const std::vector<std::byte> silence(32000);
    write_file(folder / name, wav_bytes({}, silence));
    EXPECT_EQ(read_all(*open_audio((folder / name).string())).size(), 16000U) << name;
  }
}

TEST(AudioSamples, ComeBackAsTheyAre) {
  std::vector<float> samples(10001);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<float>(i % 7) - 3;
  const auto source = audio_from_samples(samples);
  EXPECT_DOUBLE_EQ(source->duration().value(), 10001 / 16000.0);
  EXPECT_EQ(read_all(*source), samples);
  EXPECT_EQ(read_all(*audio_from_samples({})).size(), 0U);
}

}  // namespace
}  // namespace sotto::test
