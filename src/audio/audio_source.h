#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "audio/byte_stream.h"

namespace sotto {

inline constexpr int kSampleRate = 16000;

// A stretch of the input that could not be decoded; silence stands in its place so that later times stay
// right.
struct AudioDamage {
  double start = 0;  // seconds
  double end = 0;
  std::string reason;
};

// 16 kHz mono audio that arrives piece by piece, so that memory does not grow with the length of the input.
class AudioSource {
 public:
  virtual ~AudioSource() = default;
  AudioSource() = default;
  AudioSource(const AudioSource&) = delete;
  AudioSource& operator=(const AudioSource&) = delete;

  // Fills as much of out as there is, and returns how much that was; 0 only at the end.
  virtual size_t read(std::span<float> out) = 0;

  virtual std::optional<double> duration() const = 0;  // seconds, where the container says
  virtual std::vector<AudioDamage> damage() const { return {}; }
};

struct AudioOptions {
  int track = 0;     // which audio track of the file, from 0
  int channel = -1;  // one channel, from 0; -1 mixes all to mono
};

// Any container and codec that FFmpeg reads; "-" is standard input. Only the file and pipe protocols are
// allowed, so a playlist cannot make the program reach the network. Throws Error(bad_audio) or Error(io).
std::unique_ptr<AudioSource> open_audio(const std::string& path, const AudioOptions& options = {});

// The same from the bytes of such a file. `name` is for messages and may help to recognise the format.
std::unique_ptr<AudioSource> open_audio(std::unique_ptr<ByteStream> bytes, const std::string& name,
                                        const AudioOptions& options = {});

// Samples that are in memory already.
std::unique_ptr<AudioSource> audio_from_samples(std::vector<float> samples);

// Numbers without a container: whole frames of one sample per channel, in the machine's byte order.
enum class SampleType { u8, s16, s32, f32, f64 };
struct SampleFormat {
  SampleType type = SampleType::f32;
  int rate = kSampleRate;
  int channels = 1;
};

// Mono at 16 kHz is taken as it is; anything else is mixed and resampled as a file's audio is. `seconds` is
// how long it will be, where the caller knows. Throws Error(usage) for a rate or channels that make no sense.
std::unique_ptr<AudioSource> audio_from_stream(std::unique_ptr<ByteStream> bytes, const SampleFormat& format,
                                               std::optional<double> seconds,
                                               const AudioOptions& options = {});

}  // namespace sotto
