#include "unit/audio/audio_tools.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <numbers>

#include <gtest/gtest.h>

namespace sotto::test {
namespace {

struct WavHeader {
  char riff[4] = {'R', 'I', 'F', 'F'};
  uint32_t riff_size = 0;
  char wave[4] = {'W', 'A', 'V', 'E'};
  char fmt[4] = {'f', 'm', 't', ' '};
  uint32_t fmt_size = 16;
  uint16_t kind = 1;
  uint16_t channels = 1;
  uint32_t rate = 0;
  uint32_t bytes_per_second = 0;
  uint16_t bytes_per_sample = 0;
  uint16_t bits = 0;
  char data[4] = {'d', 'a', 't', 'a'};
  uint32_t data_size = 0;
};
static_assert(sizeof(WavHeader) == 44);

}  // namespace

bool run_ffmpeg(const std::string& arguments) {
  return std::system(("ffmpeg -nostdin -v quiet -y " + arguments + " >/dev/null 2>&1").c_str()) == 0;
}

bool have_ffmpeg() {
  static const bool found = run_ffmpeg("-version");
  return found;
}

std::vector<float> read_all(AudioSource& source) {
  std::vector<float> all;
  std::vector<float> piece(4001);
  while (const size_t count = source.read(piece))
    all.insert(all.end(), piece.begin(), piece.begin() + static_cast<long>(count));
  return all;
}

double tone_amplitude(std::span<const float> samples, double hz) {
  std::complex<double> sum = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    sum += static_cast<double>(samples[i]) *
           std::polar(1.0, -2 * std::numbers::pi * hz * static_cast<double>(i) / kSampleRate);
  }
  return samples.empty() ? 0 : 2 * std::abs(sum) / static_cast<double>(samples.size());
}

std::span<const float> cut(std::span<const float> samples, double start, double end) {
  const size_t first = std::min(samples.size(), static_cast<size_t>(start * kSampleRate));
  const size_t last = std::min(samples.size(), static_cast<size_t>(end * kSampleRate));
  return samples.subspan(first, last - first);
}

std::vector<std::byte> wav_bytes(const WavFormat& format, std::span<const std::byte> data,
                                 std::optional<uint32_t> stated_size) {
  WavHeader header;
  header.data_size = stated_size.value_or(static_cast<uint32_t>(data.size()));
  header.riff_size = header.data_size + 36;
  header.kind = format.floating ? 3 : 1;
  header.channels = static_cast<uint16_t>(format.channels);
  header.rate = static_cast<uint32_t>(format.rate);
  header.bits = static_cast<uint16_t>(format.bits);
  header.bytes_per_sample = static_cast<uint16_t>(format.channels * format.bits / 8);
  header.bytes_per_second = header.rate * header.bytes_per_sample;
  std::vector<std::byte> bytes(sizeof header + data.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  std::copy(data.begin(), data.end(), bytes.begin() + sizeof header);
  return bytes;
}

Refusal refusal_of(const std::string& path, const AudioOptions& options) {
  try {
    open_audio(path, options);
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  ADD_FAILURE() << path << " was opened, but should have been refused";
  return {ErrorCode::internal, ""};
}

}  // namespace sotto::test
