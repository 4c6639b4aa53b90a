// Audio from files and from the caller's own functions.
#include <cstring>

#include "capi/caller_struct.h"
#include "capi/guard.h"
#include "capi/handles.h"
#include "engine/resume_log.h"

namespace {

using namespace sotto::capi;
using sotto::Error;
using sotto::ErrorCode;

class CallerBytes final : public sotto::ByteStream {
 public:
  explicit CallerBytes(const sotto_audio_stream& stream) : stream_(stream) {}

  int64_t read(std::span<std::byte> out) noexcept override {
    return stream_.read(out.data(), out.size(), stream_.user);
  }
  bool can_seek() const noexcept override { return stream_.seek != nullptr; }
  int64_t seek(int64_t offset, From from) noexcept override {
    const sotto_seek_from names[] = {SOTTO_FROM_START, SOTTO_FROM_HERE, SOTTO_FROM_END};
    return can_seek() ? stream_.seek(offset, names[static_cast<size_t>(from)], stream_.user) : -1;
  }

 private:
  const sotto_audio_stream stream_;
};

sotto::AudioOptions audio_options(const sotto_options* options) {
  const sotto::Options values = options_or_defaults(options);
  return {.track = values.track, .channel = values.channel};
}

sotto::SampleType sample_type(int format) {
  switch (format) {
    case SOTTO_AUDIO_U8:
      return sotto::SampleType::u8;
    case SOTTO_AUDIO_S16:
      return sotto::SampleType::s16;
    case SOTTO_AUDIO_S32:
      return sotto::SampleType::s32;
    case SOTTO_AUDIO_F32:
      return sotto::SampleType::f32;
    case SOTTO_AUDIO_F64:
      return sotto::SampleType::f64;
    default:
      throw Error(ErrorCode::usage, "there is no audio format {}", format);
  }
}

}  // namespace

extern "C" {

sotto_status sotto_audio_open_file(const char* path, const sotto_options* options, sotto_audio** out) {
  return guard([&] {
    require(path, "path");
    require(out, "out");
    auto source = sotto::open_audio(path, audio_options(options));
    *out = new sotto_audio{std::move(source), path, sotto::input_identity(path)};
  });
}

sotto_status sotto_audio_open_stream(const sotto_audio_stream* stream, const sotto_options* options,
                                     sotto_audio** out) {
  return guard([&] {
    require(stream, "stream");
    require(out, "out");
    const auto given = caller_struct(*stream, offsetof(sotto_audio_stream, seek), "sotto_audio_stream");
    require(reinterpret_cast<const void*>(given.read), "stream->read");
    const std::string name = given.name == nullptr ? "" : given.name;
    auto bytes = std::make_unique<CallerBytes>(given);
    auto source =
        given.format == SOTTO_AUDIO_FILE
            ? sotto::open_audio(std::move(bytes), name, audio_options(options))
            : sotto::audio_from_stream(
                  std::move(bytes), {sample_type(given.format), given.sample_rate, given.channels},
                  given.duration < 0 ? std::nullopt : std::optional(given.duration), audio_options(options));
    *out = new sotto_audio{std::move(source), name, ""};
  });
}

void sotto_audio_close(sotto_audio* audio) {
  delete audio;
}

double sotto_audio_duration(const sotto_audio* audio) {
  return audio == nullptr ? -1 : audio->source->duration().value_or(-1);
}

sotto_status sotto_audio_read(sotto_audio* audio, float* samples, size_t count, size_t* read) {
  return guard([&] {
    require(audio, "audio");
    require(read, "read");
    if (count > 0) require(samples, "samples");
    *read = audio->source->read({samples, count});
  });
}

}  // extern "C"
