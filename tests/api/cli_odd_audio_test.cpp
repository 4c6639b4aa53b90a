// Recordings that hold next to nothing, or what no recording should hold.
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "api/cli_test.h"
#include "support/byte_writer.h"

namespace sotto::test {
namespace {

using testing::IsEmpty;
using testing::StartsWith;

constexpr uint32_t kRate = 16000;

std::string float_wav(const std::vector<float>& samples) {
  constexpr uint16_t kFloatFormat = 3, kChannels = 1, kBits = 32;
  const auto bytes = static_cast<uint32_t>(samples.size() * sizeof(float));
  ByteWriter writer;
  writer.put_text("RIFF");
  writer.put<uint32_t>(36 + bytes);
  writer.put_text("WAVEfmt ");
  writer.put<uint32_t>(16);
  writer.put(kFloatFormat);
  writer.put(kChannels);
  writer.put(kRate);
  writer.put<uint32_t>(kRate * sizeof(float));
  writer.put<uint16_t>(sizeof(float));
  writer.put(kBits);
  writer.put_text("data");
  writer.put(bytes);
  writer.put_bytes(std::as_bytes(std::span(samples)));
  const WrittenFile file = writer.take();
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

std::vector<float> signal(double seconds, const std::function<float(size_t)>& value) {
  std::vector<float> samples(static_cast<size_t>(seconds * kRate));
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = value(i);
  return samples;
}

float noise(size_t index) {
  const auto mixed = static_cast<uint32_t>(index) * 2654435761u;
  return static_cast<float>(mixed ^ (mixed >> 15)) / 4294967296.0f - 0.5f;
}

float tone(size_t index) {
  return 0.3f * static_cast<float>(std::sin(0.17 * static_cast<double>(index)));
}

struct OddAudio {
  const char* name;
  std::vector<float> samples;
};

class CliOddAudio : public testing::TestWithParam<OddAudio> {};

// Either there is nothing to write down, or a sentence says why it could not be done.
TEST_P(CliOddAudio, gives_no_text_or_a_clear_sentence) {
  TemporaryFolder folder;
  write_text(folder / "odd.wav", float_wav(GetParam().samples));
  for (const char* vad : {"--vad", "--no-vad"}) {
    const Outcome outcome = sotto({"transcribe", "-q", vad, (folder / "odd.wav").string()});
    EXPECT_EQ(outcome.signal, 0);
    if (outcome.exit_code == 0) {
      EXPECT_THAT(outcome.err, IsEmpty());
    } else {
      EXPECT_EQ(outcome.exit_code, 1);
      EXPECT_THAT(outcome.err, StartsWith("Error: "));
    }
    const bool may_sound_like_speech =
        std::string_view(vad) == "--no-vad" && GetParam().samples.size() > kRate;
    if (!may_sound_like_speech) {
      EXPECT_THAT(outcome.out, IsEmpty());
    }
  }
}

const OddAudio kOddAudio[] = {
    {"nothing", {}},
    {"one_sample", {0.5f}},
    {"ten_milliseconds", signal(0.01, tone)},
    {"silence", signal(40, [](size_t) { return 0.0f; })},
    {"noise", signal(5, noise)},
    {"clipped", signal(5, [](size_t i) { return tone(i) > 0 ? 1.0f : -1.0f; })},
    {"shifted", signal(5, [](size_t) { return 0.9f; })},
    {"not_numbers",
     signal(5, [](size_t i) { return i % 3 ? tone(i) : std::numeric_limits<float>::quiet_NaN(); })},
    {"infinite",
     signal(5, [](size_t i) { return i % 3 ? tone(i) : std::numeric_limits<float>::infinity(); })},
};
INSTANTIATE_TEST_SUITE_P(Each, CliOddAudio, testing::ValuesIn(kOddAudio),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace sotto::test
