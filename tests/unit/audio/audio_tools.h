#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/audio_source.h"
#include "base/error.h"

namespace sotto::test {

// Runs the ffmpeg program, which the tests (never the library) use to make files of every kind; false when it
// fails.
bool run_ffmpeg(const std::string& arguments);
bool have_ffmpeg();

// Everything a source holds.
std::vector<float> read_all(AudioSource& source);

// How much of a tone is in the samples: the amplitude of that frequency.
double tone_amplitude(std::span<const float> samples, double hz);

// The seconds from start to end of 16 kHz samples.
std::span<const float> cut(std::span<const float> samples, double start, double end);

// A WAV file by its parts, for files that no encoder would write; stated_size is what the header claims.
struct WavFormat {
  int rate = 16000;
  int channels = 1;
  int bits = 16;
  bool floating = false;
};
std::vector<std::byte> wav_bytes(const WavFormat& format, std::span<const std::byte> data,
                                 std::optional<uint32_t> stated_size = {});

// What open_audio says about a file that it should refuse.
struct Refusal {
  ErrorCode code;
  std::string message;
};
Refusal refusal_of(const std::string& path, const AudioOptions& options = {});

}  // namespace sotto::test

#define SOTTO_NEED_FFMPEG()          \
  if (!::sotto::test::have_ffmpeg()) \
  GTEST_SKIP() << "the ffmpeg program, which makes the test files, is not installed"
