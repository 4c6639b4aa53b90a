// Broken files: what can be read is read, the rest is named with its time or refused with a clear sentence.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "audio/audio_source.h"
#include "audio/damage_log.h"
#include "base/log.h"
#include "support/temporary_folder.h"
#include "unit/audio/audio_tools.h"

namespace sotto::test {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::Not;
using testing::SizeIs;

std::vector<std::byte> made_file(const std::filesystem::path& path, const std::string& arguments) {
  EXPECT_TRUE(run_ffmpeg(arguments + " " + path.string()));
  return read_file(path);
}

// 5 s at 440 Hz, then 5 s at 1000 Hz: shows whether times after the damage are still right.
const std::string kTwoTones =
    "-f lavfi -i sine=frequency=440:duration=5:sample_rate=48000 -f lavfi "
    "-i sine=frequency=1000:duration=5:sample_rate=48000 -filter_complex [0][1]concat=v=0:a=1 ";

void overwrite_with_noise(std::vector<std::byte>& bytes, double from, double to) {
  std::mt19937 random(7);
  const auto at = [&](double share) {
    return static_cast<size_t>(share * static_cast<double>(bytes.size()));
  };
  for (size_t i = at(from); i < at(to); ++i) bytes[i] = static_cast<std::byte>(random());
}

struct Container {
  std::string file;
  std::string encoding;
};

std::ostream& operator<<(std::ostream& out, const Container& container) {
  return out << container.file;
}

class Garbage : public testing::TestWithParam<Container> {};

TEST_P(Garbage, InTheMiddleLeavesTheTimesRight) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / GetParam().file;
  std::vector<std::byte> bytes = made_file(path, kTwoTones + GetParam().encoding);
  overwrite_with_noise(bytes, 0.2, 0.3);
  write_file(path, bytes);

  const auto source = open_audio(path.string());
  const std::vector<float> samples = read_all(*source);
  EXPECT_NEAR(static_cast<double>(samples.size()) / kSampleRate, 10, 0.15);
  ASSERT_THAT(source->damage(), Not(IsEmpty()));
  const double start = source->damage().front().start, end = source->damage().back().end;
  EXPECT_THAT(start, AllOf(Gt(0.3), Lt(3)));  // by time; the share of the bytes is only near it
  EXPECT_THAT(end, AllOf(Gt(1), Lt(4.5)));
  EXPECT_GT(tone_amplitude(cut(samples, 0.1, start - 0.1), 440), 0.1);
  EXPECT_GT(tone_amplitude(cut(samples, end + 0.1, 4.95), 440), 0.1);
  EXPECT_GT(tone_amplitude(cut(samples, 5.05, 9.5), 1000), 0.1);
}

INSTANTIATE_TEST_SUITE_P(Containers, Garbage,
                         testing::Values(Container{"a.flac", "-frame_size 1024"},
                                         Container{"a.ogg", "-c:a libvorbis -page_duration 100000"},
                                         Container{"a.m4a", "-c:a aac -movflags +faststart"},
                                         Container{"a.opus", "-c:a libopus -page_duration 100000"},
                                         Container{"a.mka", "-c:a aac -cluster_time_limit 200"},
                                         Container{"a.ts", "-c:a aac"}));

class Truncated : public testing::TestWithParam<Container> {};

TEST_P(Truncated, GivesWhatIsThereAndNamesTheRest) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / GetParam().file;
  std::vector<std::byte> bytes = made_file(path, kTwoTones + GetParam().encoding);
  bytes.resize(bytes.size() / 2);
  write_file(path, bytes);

  const auto source = open_audio(path.string());
  const double length = static_cast<double>(read_all(*source).size()) / kSampleRate;
  EXPECT_NEAR(length, 5, 0.6);
  ASSERT_THAT(source->damage(), Not(IsEmpty()));
  EXPECT_NEAR(source->damage().back().start, length, 0.1);
  EXPECT_NEAR(source->damage().back().end, 10, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Containers, Truncated,
                         testing::Values(Container{"a.flac", ""},
                                         Container{"a.m4a", "-c:a aac -movflags +faststart"},
                                         Container{"a.mp3", ""}, Container{"a.mka", "-c:a aac"}));

TEST(DamagedAudio, GivesAllThatACutWavHolds) {
  const TemporaryFolder folder;
  write_file(folder / "cut.wav", wav_bytes({}, std::vector<std::byte>(100'000), 320'000));
  EXPECT_EQ(read_all(*open_audio((folder / "cut.wav").string())).size(), 50'000U);
}

TEST(DamagedAudio, SilencesSamplesThatAreNotNumbers) {
  std::vector<float> data(2 * 48000, 0.25F);
  data[2 * 24000] = std::numeric_limits<float>::quiet_NaN();
  data[2 * 24000 + 101] = std::numeric_limits<float>::infinity();
  data[2 * 36000] = 3e38F;
  const TemporaryFolder folder;
  write_file(folder / "nan.wav", wav_bytes({.rate = 48000, .channels = 2, .bits = 32, .floating = true},
                                           std::as_bytes(std::span(data))));
  const auto source = open_audio((folder / "nan.wav").string());
  const std::vector<float> samples = read_all(*source);
  EXPECT_EQ(samples.size(), 16000U);
  for (const float sample : samples) ASSERT_TRUE(std::abs(sample) < 0.5F);
  ASSERT_THAT(source->damage(), SizeIs(2));
  EXPECT_NEAR(source->damage()[0].start, 0.5, 0.002);
  EXPECT_NEAR(source->damage()[0].end, 0.501, 0.002);
  EXPECT_NEAR(source->damage()[1].start, 0.75, 0.002);
  EXPECT_THAT(source->damage()[0].reason, HasSubstr("not a number"));
}

TEST(DamagedAudio, SilencesSamplesInMemoryToo) {
  std::vector<float> data(16000, 0.25F);
  data[8000] = std::numeric_limits<float>::quiet_NaN();
  const auto source = audio_from_samples(data);
  EXPECT_EQ(read_all(*source)[8000], 0.0F);
  ASSERT_THAT(source->damage(), SizeIs(1));
  EXPECT_DOUBLE_EQ(source->damage()[0].start, 0.5);
}

TEST(DamageLog, JoinsNeighboursAndStaysSmall) {
  DamageLog log;
  log.add(1.0, 1.1, "a");
  log.add(1.12, 1.2, "a");
  log.add(1.2, 1.3, "b");
  ASSERT_THAT(log.entries(), SizeIs(2));
  EXPECT_DOUBLE_EQ(log.entries()[0].end, 1.2);
  for (int i = 0; i < 100'000; ++i) log.add(10 + i, 10.5 + i, "c");
  EXPECT_LE(log.entries().size(), 1000U);
  EXPECT_DOUBLE_EQ(log.entries().back().end, 100'009.5);
}

TEST(RefusedAudio, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto message = [&](const std::filesystem::path& path) { return refusal_of(path.string()).message; };
  EXPECT_THAT(message(folder / "no.wav"), AllOf(HasSubstr("no.wav"), HasSubstr("does not exist")));
  EXPECT_EQ(refusal_of((folder / "no.wav").string()).code, ErrorCode::io);
  EXPECT_THAT(message(folder.path()), HasSubstr("is a folder"));
  write_file(folder / "empty.wav", "");
  EXPECT_THAT(message(folder / "empty.wav"), HasSubstr("is empty (0 bytes)"));
  write_file(folder / "text", "Dear reader, this is only a letter and no sound at all.\n");
  EXPECT_THAT(message(folder / "text"), HasSubstr("is not an audio or video file that can be read"));
  write_file(folder / "text.txt", "Dear reader, this is only a letter and no sound at all.\n");
  EXPECT_THAT(message(folder / "text.txt"), HasSubstr("text.txt"));
  write_file(folder / "header.wav", wav_bytes({}, {}));
  EXPECT_THAT(message(folder / "header.wav"), HasSubstr("without any audio"));
  std::vector<std::byte> cut_header = wav_bytes({}, {});
  cut_header.resize(30);
  write_file(folder / "cut.wav", cut_header);
  EXPECT_THAT(message(folder / "cut.wav"), HasSubstr("cut.wav"));
  EXPECT_EQ(refusal_of((folder / "cut.wav").string()).code, ErrorCode::bad_audio);
}

TEST(RefusedAudio, HasNoAudioTrack) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  for (const char* name : {"silent.mp4", "picture.png"}) {
    made_file(folder / name, "-f lavfi -i testsrc=duration=1:size=64x48:rate=5 -frames:v 1");
    EXPECT_THAT(refusal_of((folder / name).string()).message,
                AllOf(HasSubstr(name), HasSubstr("no audio track")));
  }
}

TEST(RefusedAudio, CannotBeDecodedAtAll) {
  SOTTO_NEED_FFMPEG();
  const TemporaryFolder folder;
  std::vector<std::byte> bytes =
      made_file(folder / "a.mp4", kTwoTones + "-c:a flac -strict experimental -movflags +faststart");
  const std::vector<std::byte> tag = to_bytes("mdat");
  const auto data = std::search(bytes.begin(), bytes.end(), tag.begin(), tag.end());
  ASSERT_NE(data, bytes.end());
  std::fill(data + 4, bytes.end(), std::byte{0});
  write_file(folder / "a.mp4", bytes);
  const Refusal refusal = refusal_of((folder / "a.mp4").string());
  EXPECT_EQ(refusal.code, ErrorCode::bad_audio);
  EXPECT_THAT(refusal.message, AllOf(HasSubstr("a.mp4"), HasSubstr("none of it can be decoded")));
}

TEST(RefusedAudio, PlaylistsAreNotFollowed) {
  const TemporaryFolder folder;
  write_file(folder / "local.wav", wav_bytes({}, std::vector<std::byte>(32000)));
  const std::string local = (folder / "local.wav").string();
  write_file(folder / "web.m3u8",
             "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n");
  write_file(folder / "local.m3u8",
             "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\n" + local + "\n#EXT-X-ENDLIST\n");
  write_file(folder / "list.ffconcat", "ffconcat version 1.0\nfile local.wav\n");
  write_file(folder / "session.sdp",
             "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n");
  for (const char* name : {"web.m3u8", "local.m3u8", "list.ffconcat", "session.sdp"}) {
    EXPECT_THAT(refusal_of((folder / name).string()).message, HasSubstr("playlists are not followed"))
        << name;
  }
}

TEST(DamagedAudio, NeverWritesToTheTerminal) {
  const TemporaryFolder folder;
  write_file(folder / "cut.wav",
             wav_bytes({}, std::vector<std::byte>(100'000), 320'000));  // FFmpeg warns of it
  std::vector<std::string> logged;
  set_log_sink([&](LogLevel level, std::string_view text) {
    EXPECT_EQ(level, LogLevel::debug);
    logged.emplace_back(text);
  });
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  read_all(*open_audio((folder / "cut.wav").string()));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  set_log_sink(nullptr);
  EXPECT_THAT(logged, Not(IsEmpty()));
}

}  // namespace
}  // namespace sotto::test
