// Audio through the C API: files, a caller's bytes, raw samples.
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

#include <gtest/gtest.h>

#include <sotto/sotto.hpp>

namespace {

const char* const kSample = SOTTO_SOURCE_DIR "/samples/pico_en_short.flac";

// A caller's file in memory, handed over in pieces of an odd size.
struct Bytes {
  std::string data;
  size_t position = 0;
  size_t piece = 777;
  bool fails = false;

  static int64_t read(void* buffer, size_t size, void* user) {
    auto& self = *static_cast<Bytes*>(user);
    if (self.fails && self.position > self.data.size() / 2) return -1;
    const size_t count = std::min({size, self.piece, self.data.size() - self.position});
    std::memcpy(buffer, self.data.data() + self.position, count);
    self.position += count;
    return static_cast<int64_t>(count);
  }
  static int64_t seek(int64_t offset, sotto_seek_from from, void* user) {
    auto& self = *static_cast<Bytes*>(user);
    const auto base = from == SOTTO_FROM_START  ? int64_t{0}
                      : from == SOTTO_FROM_HERE ? static_cast<int64_t>(self.position)
                                                : static_cast<int64_t>(self.data.size());
    if (base + offset < 0 || base + offset > static_cast<int64_t>(self.data.size())) return -1;
    self.position = static_cast<size_t>(base + offset);
    return base + offset;
  }
};

std::string file_bytes(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<float> read_all(sotto_audio* audio) {
  std::vector<float> samples(16000 * 60);
  size_t count = 0;
  sotto::check(sotto_audio_read(audio, samples.data(), samples.size(), &count));
  samples.resize(count);
  return samples;
}

sotto_audio_stream stream_over(Bytes& bytes) {
  sotto_audio_stream stream{};
  stream.size = sizeof stream;
  stream.user = &bytes;
  stream.duration = -1;
  stream.read = Bytes::read;
  return stream;
}

template <class Number>
Bytes raw_bytes(const std::vector<Number>& numbers) {
  Bytes bytes;
  bytes.data.assign(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  return bytes;
}

sotto_audio_stream raw_stream(Bytes& bytes, int format, int rate = 16000, int channels = 1) {
  sotto_audio_stream stream = stream_over(bytes);
  stream.format = format;
  stream.sample_rate = rate;
  stream.channels = channels;
  return stream;
}

std::vector<float> samples_of(const sotto_audio_stream& stream, const sotto_options* options = nullptr) {
  return read_all(sotto::own(sotto_audio_open_stream, &stream, options).get());
}

TEST(CApiAudio, AFilesBytesGiveItsSamples) {
  const auto file = sotto::own(sotto_audio_open_file, kSample, nullptr);
  EXPECT_NEAR(sotto_audio_duration(file.get()), 3.6, 1);
  const std::vector<float> expected = read_all(file.get());
  ASSERT_GT(expected.size(), 16000u);
  for (const bool seekable : {false, true}) {
    Bytes bytes{file_bytes(kSample)};
    sotto_audio_stream stream = stream_over(bytes);
    if (seekable) stream.seek = Bytes::seek;
    EXPECT_EQ(samples_of(stream), expected) << "seekable " << seekable;
  }
}

TEST(CApiAudio, BytesThatAreNoAudioAreRefusedByName) {
  Bytes bytes{std::string(5000, 'x')};
  sotto_audio_stream stream = stream_over(bytes);
  stream.name = "upload.wav";
  sotto_audio* audio = nullptr;
  EXPECT_EQ(sotto_audio_open_stream(&stream, nullptr, &audio), SOTTO_ERROR_AUDIO);
  EXPECT_NE(std::string(sotto_last_error()).find("upload.wav"), std::string::npos) << sotto_last_error();
  EXPECT_EQ(audio, nullptr);
  Bytes nothing;
  stream = stream_over(nothing);
  EXPECT_EQ(sotto_audio_open_stream(&stream, nullptr, &audio), SOTTO_ERROR_AUDIO);
}

TEST(CApiAudio, AReadThatFailsEndsTheAudio) {
  Bytes bytes{file_bytes(kSample)};
  bytes.fails = true;
  const size_t whole = read_all(sotto::own(sotto_audio_open_file, kSample, nullptr).get()).size();
  const size_t some = samples_of(stream_over(bytes)).size();
  EXPECT_GT(some, whole / 4);
  EXPECT_LT(some, whole);
}

TEST(CApiAudio, RawSamplesAtSixteenKilohertzAreTakenAsTheyAre) {
  const std::vector<float> expected{0, 0.5F, -1, 0.25F, -0.75F};
  Bytes f32 = raw_bytes(expected);
  f32.piece = 3;  // not even a whole sample
  EXPECT_EQ(samples_of(raw_stream(f32, SOTTO_AUDIO_F32)), expected);
  Bytes f64 = raw_bytes(std::vector<double>(expected.begin(), expected.end()));
  EXPECT_EQ(samples_of(raw_stream(f64, SOTTO_AUDIO_F64)), expected);
  Bytes s16 = raw_bytes(std::vector<int16_t>{0, 16384, -32768, 8192, -24576});
  EXPECT_EQ(samples_of(raw_stream(s16, SOTTO_AUDIO_S16)), expected);
  Bytes s32 =
      raw_bytes(std::vector<int32_t>{0, 1 << 30, std::numeric_limits<int32_t>::min(), 1 << 29, -(3 << 29)});
  EXPECT_EQ(samples_of(raw_stream(s32, SOTTO_AUDIO_S32)), expected);
  Bytes u8 = raw_bytes(std::vector<uint8_t>{128, 192, 0, 160, 32});
  EXPECT_EQ(samples_of(raw_stream(u8, SOTTO_AUDIO_U8)), expected);
}

TEST(CApiAudio, OtherRatesAndChannelsAreConverted) {
  std::vector<int16_t> stereo(2 * 44100);  // one second: silence on the left, a constant on the right
  for (size_t i = 1; i < stereo.size(); i += 2) stereo[i] = 8000;
  Bytes bytes = raw_bytes(stereo);
  const std::vector<float> mixed = samples_of(raw_stream(bytes, SOTTO_AUDIO_S16, 44100, 2));
  EXPECT_NEAR(static_cast<double>(mixed.size()), 16000, 2);
  EXPECT_NEAR(mixed[8000], 4000 / 32768.0, 1e-3);
  const auto options = sotto::own(sotto_options_new);
  sotto::check(sotto_options_set(options.get(), "channel", "1"));
  bytes.position = 0;
  const std::vector<float> right = samples_of(raw_stream(bytes, SOTTO_AUDIO_S16, 44100, 2), options.get());
  EXPECT_NEAR(right[8000], 8000 / 32768.0, 1e-3);
}

TEST(CApiAudio, NumbersThatAreNoSoundBecomeSilence) {
  Bytes direct = raw_bytes(std::vector<double>{0.5, std::numeric_limits<double>::quiet_NaN(), 1e300, -0.5});
  EXPECT_EQ(samples_of(raw_stream(direct, SOTTO_AUDIO_F64)), (std::vector<float>{0.5F, 0, 0, -0.5F}));
  std::vector<float> numbers(8000, 0.25F);
  numbers[4000] = std::numeric_limits<float>::quiet_NaN();
  Bytes resampled = raw_bytes(numbers);
  for (const float sample : samples_of(raw_stream(resampled, SOTTO_AUDIO_F32, 8000)))
    ASSERT_TRUE(sample > -1 && sample < 1);
}

TEST(CApiAudio, StreamsThatMakeNoSenseAreRefused) {
  Bytes bytes;
  sotto_audio* audio = nullptr;
  const auto refused = [&](sotto_audio_stream stream) {
    return sotto_audio_open_stream(&stream, nullptr, &audio);
  };
  EXPECT_EQ(refused(raw_stream(bytes, SOTTO_AUDIO_S16, 5)), SOTTO_ERROR_USAGE);
  EXPECT_EQ(refused(raw_stream(bytes, SOTTO_AUDIO_S16, 16000, 0)), SOTTO_ERROR_USAGE);
  EXPECT_EQ(refused(raw_stream(bytes, 42)), SOTTO_ERROR_USAGE);
  sotto_audio_stream stream = raw_stream(bytes, SOTTO_AUDIO_S16);
  stream.read = nullptr;
  EXPECT_EQ(refused(stream), SOTTO_ERROR_USAGE);
  stream = raw_stream(bytes, SOTTO_AUDIO_S16);
  stream.size = 4;
  EXPECT_EQ(refused(stream), SOTTO_ERROR_USAGE);
  EXPECT_EQ(sotto_audio_open_stream(nullptr, nullptr, &audio), SOTTO_ERROR_USAGE);
  EXPECT_EQ(sotto_audio_open_file("/no/such/file", nullptr, &audio), SOTTO_ERROR_IO);
  EXPECT_EQ(audio, nullptr);
  sotto_audio_close(nullptr);
  EXPECT_LT(sotto_audio_duration(nullptr), 0);
}

TEST(CApiAudio, TheOwnersThrowTheLibrarysSentence) {
  try {
    sotto::own(sotto_audio_open_file, "/no/such/file", nullptr);
    FAIL();
  } catch (const sotto::Error& error) {
    EXPECT_EQ(error.status(), SOTTO_ERROR_IO);
    EXPECT_STREQ(error.what(), "'/no/such/file' does not exist.");
  }
}

TEST(CApiAudio, ATranscriptDoesNotDependOnHowTheAudioCame) {
  const auto options = sotto::own(sotto_options_new);
  const auto model = sotto::own(sotto_model_open, options.get());
  const auto from_file = sotto::own(sotto_transcribe_file, model.get(), kSample, options.get(), nullptr);
  const std::string expected = sotto::text(sotto_result_write, from_file.get(), "srt", nullptr);

  Bytes encoded{file_bytes(kSample)};
  Bytes raw = raw_bytes(read_all(sotto::own(sotto_audio_open_file, kSample, nullptr).get()));
  for (const sotto_audio_stream& stream : {stream_over(encoded), raw_stream(raw, SOTTO_AUDIO_F32)}) {
    const auto audio = sotto::own(sotto_audio_open_stream, &stream, nullptr);
    const auto result = sotto::own(sotto_transcribe, model.get(), audio.get(), options.get(), nullptr);
    EXPECT_EQ(sotto::text(sotto_result_write, result.get(), "srt", nullptr), expected);
  }
}

}  // namespace
