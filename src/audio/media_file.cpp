#include "audio/media_file.h"

extern "C" {
#include <libavutil/avstring.h>
}

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"

namespace sotto::ffmpeg {
namespace {

// What FFmpeg has to say is for developers: it goes to the log at debug level, never to the terminal.
void forward_log(void* object, int level, const char* format, va_list arguments) noexcept {
  if (level > AV_LOG_WARNING) return;
  try {
    char line[512];
    int print_prefix = 1;
    av_log_format_line2(object, level, format, arguments, line, sizeof line, &print_prefix);
    std::string_view text(line);
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    log(LogLevel::debug, "ffmpeg: {}", text);
  } catch (...) {  // a failing log sink must not unwind through C
  }
}

void capture_log() {
  static std::once_flag once;
  std::call_once(once, [] { av_log_set_callback(forward_log); });
}

void require_readable_file(const std::string& path, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) throw Error(ErrorCode::io, "{} does not exist.", name);
  if (error) throw Error(ErrorCode::io, "{} cannot be opened: {}.", name, error.message());
  if (fs::is_directory(status)) {
    throw Error(ErrorCode::io, "{} is a folder; name an audio or video file in it.", name);
  }
  if (fs::is_regular_file(status) && fs::file_size(path, error) == 0 && !error) {
    throw Error(ErrorCode::bad_audio, "{} is empty (0 bytes).", name);
  }
}

// The prefixes keep a file whose name looks like an address ("http:...") a file.
IoContext open_io(const std::string& url, const std::string& name) {
  AVDictionary* raw_options = nullptr;
  av_dict_set(&raw_options, "protocol_whitelist", "file,pipe", 0);
  AVIOContext* raw_io = nullptr;
  const int status = avio_open2(&raw_io, url.c_str(), AVIO_FLAG_READ, nullptr, &raw_options);
  const Dictionary options(raw_options);
  if (status < 0) throw Error(ErrorCode::io, "{} cannot be opened: {}.", name, error_text(status));
  return IoContext(raw_io);
}

// --- a caller's bytes as FFmpeg wants to read them ---
int read_bytes(void* opaque, uint8_t* buffer, int size) noexcept {
  const auto room = std::span(reinterpret_cast<std::byte*>(buffer), static_cast<size_t>(size));
  const int64_t count = static_cast<ByteStream*>(opaque)->read(room);
  if (count < 0 || count > size) return AVERROR(EIO);
  return count == 0 ? AVERROR_EOF : static_cast<int>(count);
}

int64_t seek_bytes(void* opaque, int64_t offset, int whence) noexcept {
  auto& bytes = *static_cast<ByteStream*>(opaque);
  int64_t position = -1;
  switch (whence & ~AVSEEK_FORCE) {
    case SEEK_SET:
      position = bytes.seek(offset, ByteStream::From::start);
      break;
    case SEEK_CUR:
      position = bytes.seek(offset, ByteStream::From::here);
      break;
    case SEEK_END:
      position = bytes.seek(offset, ByteStream::From::end);
      break;
    case AVSEEK_SIZE: {  // how many bytes there are
      const int64_t here = bytes.seek(0, ByteStream::From::here);
      position = here < 0 ? here : bytes.seek(0, ByteStream::From::end);
      if (here >= 0) bytes.seek(here, ByteStream::From::start);
      break;
    }
    default:
      break;
  }
  return position < 0 ? AVERROR(EIO) : position;
}

IoContext open_io(ByteStream& bytes, const std::string& name) {
  constexpr int kBuffer = 32 * 1024;
  auto* buffer = static_cast<uint8_t*>(av_malloc(kBuffer));
  AVIOContext* io = buffer == nullptr ? nullptr
                                      : avio_alloc_context(buffer, kBuffer, 0, &bytes, read_bytes, nullptr,
                                                           bytes.can_seek() ? seek_bytes : nullptr);
  if (io == nullptr) {
    av_free(buffer);
    throw Error(ErrorCode::out_of_memory, "There is no memory to open {}.", name);
  }
  return IoContext(io, CloseIo{.own_functions = true});
}

// Formats that only point to other files or addresses. Nothing they name would be opened (see
// open_container); saying so is kinder than the demuxer's failure.
bool is_playlist(const AVInputFormat& format) {
  for (const char* playlist :
       {"hls", "dash", "concat", "imf", "sdp", "rtsp", "webm_dash_manifest", "vapoursynth"}) {
    if (av_match_name(playlist, format.name)) return true;
  }
  return false;
}

const AVInputFormat* detect_format(AVIOContext* io, const std::string& url, const std::string& name) {
  const AVInputFormat* format = nullptr;
  const int status = av_probe_input_buffer2(io, &format, url.c_str(), nullptr, 0, 0);
  if (status < 0 && io->bytes_read == 0) throw Error(ErrorCode::bad_audio, "{} is empty (0 bytes).", name);
  if (status < 0 || format == nullptr) {
    throw Error(ErrorCode::bad_audio,
                "{} is not an audio or video file that can be read: its format is unknown.", name);
  }
  if (is_playlist(*format)) {
    throw Error(ErrorCode::bad_audio,
                "{} is a playlist ({}), and playlists are not followed; name the audio file itself.", name,
                format->name);
  }
  return format;
}

FormatContext open_container(AVIOContext* io, const std::string& url, const std::string& name) {
  const AVInputFormat* format = detect_format(io, url, name);
  AVFormatContext* raw_context = avformat_alloc_context();
  if (raw_context == nullptr) throw Error(ErrorCode::out_of_memory, "There is no memory to open {}.", name);
  raw_context->pb = io;
  AVDictionary* raw_options = nullptr;
  // This list holds for what the container itself wants to open; no protocol has this name, so that is
  // nothing at all.
  av_dict_set(&raw_options, "protocol_whitelist", "none", 0);
  int status =
      avformat_open_input(&raw_context, url.c_str(), format, &raw_options);  // frees the context on failure
  const Dictionary options(raw_options);
  FormatContext context(raw_context);
  if (status >= 0) status = avformat_find_stream_info(context.get(), nullptr);
  if (status < 0) {
    throw Error(ErrorCode::bad_audio, "{} is not an audio or video file that can be read: {} (format {}).",
                name, error_text(status), format->name);
  }
  return context;
}

std::string describe_tracks(const std::vector<AVStream*>& tracks) {
  std::string text;
  for (size_t i = 0; i < tracks.size(); ++i) {
    const AVCodecParameters& codec = *tracks[i]->codecpar;
    const AVDictionaryEntry* language = av_dict_get(tracks[i]->metadata, "language", nullptr, 0);
    text += fmt::format("{}{}: {}, {} Hz, {} channel(s){}{}", i == 0 ? "" : "; ", i,
                        avcodec_get_name(codec.codec_id), codec.sample_rate, codec.ch_layout.nb_channels,
                        language ? ", " : "", language ? language->value : "");
  }
  return text;
}

AVStream* pick_track(const AVFormatContext& format, int track, const std::string& name) {
  std::vector<AVStream*> tracks;
  for (unsigned i = 0; i < format.nb_streams; ++i) {
    AVStream* stream = format.streams[i];
    stream->discard = AVDISCARD_ALL;
    if (stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) tracks.push_back(stream);
  }
  if (tracks.empty())
    throw Error(ErrorCode::bad_audio, "{} has no audio track (format {}).", name, format.iformat->name);
  if (track < 0 || static_cast<size_t>(track) >= tracks.size()) {
    throw Error(ErrorCode::bad_audio, "{} has no audio track {}; its audio tracks are: {}.", name, track,
                describe_tracks(tracks));
  }
  tracks[static_cast<size_t>(track)]->discard = AVDISCARD_DEFAULT;
  return tracks[static_cast<size_t>(track)];
}

CodecContext open_decoder(const AVStream& stream, const std::string& name) {
  const char* codec_name = avcodec_get_name(stream.codecpar->codec_id);
  const AVCodec* codec = avcodec_find_decoder(stream.codecpar->codec_id);
  if (codec == nullptr) {
    throw Error(ErrorCode::bad_audio, "{} cannot be decoded: FFmpeg has no decoder for its audio codec '{}'.",
                name, codec_name);
  }
  CodecContext decoder(avcodec_alloc_context3(codec));
  if (!decoder) throw Error(ErrorCode::out_of_memory, "There is no memory to open {}.", name);
  int status = avcodec_parameters_to_context(decoder.get(), stream.codecpar);
  decoder->pkt_timebase = stream.time_base;  // the decoder needs it to cut off encoder delay exactly
  if (status >= 0) status = avcodec_open2(decoder.get(), codec, nullptr);
  if (status < 0) {
    throw Error(ErrorCode::bad_audio,
                "{} cannot be decoded: the decoder for its audio codec '{}' fails with: {}.", name,
                codec_name, error_text(status));
  }
  return decoder;
}

void open_track(MediaFile& media, const std::string& url, int track) {
  media.format = open_container(media.io.get(), url, media.name);
  media.stream = pick_track(*media.format, track, media.name);
  media.decoder = open_decoder(*media.stream, media.name);
}

}  // namespace

MediaFile open_media(const std::string& path, int track) {
  capture_log();
  MediaFile media;
  const bool is_stdin = path == "-";
  media.name = is_stdin ? "Standard input" : fmt::format("'{}'", path);
  if (!is_stdin) require_readable_file(path, media.name);
  const std::string url = is_stdin ? "pipe:0" : "file:" + path;
  media.io = open_io(url, media.name);
  open_track(media, url, track);
  return media;
}

MediaFile open_media(std::unique_ptr<ByteStream> bytes, const std::string& name, int track) {
  capture_log();
  MediaFile media;
  media.name = name.empty() ? "The audio given as bytes" : fmt::format("'{}'", name);
  media.bytes = std::move(bytes);
  media.io = open_io(*media.bytes, media.name);
  open_track(media, name, track);
  return media;
}

std::optional<double> MediaFile::start() const {
  if (format->start_time != AV_NOPTS_VALUE) return seconds(format->start_time, AV_TIME_BASE_Q);
  if (stream->start_time != AV_NOPTS_VALUE) return seconds(stream->start_time, stream->time_base);
  return std::nullopt;
}

std::optional<MediaFile::End> MediaFile::end() const {
  const bool measured = format->duration_estimation_method != AVFMT_DURATION_FROM_BITRATE;
  if (stream->duration != AV_NOPTS_VALUE && stream->duration > 0) {
    const double own_start = stream->start_time == AV_NOPTS_VALUE
                                 ? 0
                                 : seconds(stream->start_time, stream->time_base) - start().value_or(0);
    return End{own_start + seconds(stream->duration, stream->time_base), measured};
  }
  if (format->duration == AV_NOPTS_VALUE || format->duration <= 0) return std::nullopt;
  // The duration of the whole file may be another track's.
  return End{seconds(format->duration, AV_TIME_BASE_Q), measured && format->nb_streams == 1};
}

}  // namespace sotto::ffmpeg
