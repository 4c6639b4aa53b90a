#pragma once

#include <memory>
#include <optional>
#include <string>

#include "audio/byte_stream.h"
#include "audio/ffmpeg_handles.h"

namespace sotto::ffmpeg {

// An open container with the decoder of one of its audio tracks. Members are freed from the last to the
// first.
struct MediaFile {
  std::string name;                   // as messages show it
  std::unique_ptr<ByteStream> bytes;  // what io reads, where it is not FFmpeg that opens the file
  IoContext io;
  FormatContext format;
  AVStream* stream = nullptr;  // owned by format
  CodecContext decoder;

  // Where the time line begins, in the stream's seconds: the start of the whole file, so that times in a
  // video's sound track are the video's times.
  std::optional<double> start() const;

  // When the track ends, on that time line, and whether the container states it or FFmpeg guessed it.
  struct End {
    double seconds;
    bool stated;
  };
  std::optional<End> end() const;
};

// Opens the file ("-": standard input) and the decoder of its audio track number `track`.
MediaFile open_media(const std::string& path, int track);

// The same from the bytes of a file; the name is for messages and may help to recognise the format.
MediaFile open_media(std::unique_ptr<ByteStream> bytes, const std::string& name, int track);

}  // namespace sotto::ffmpeg
