#pragma once

// One owner type for each kind of FFmpeg object, and the text of its error numbers.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libswresample/swresample.h>
}

#include <memory>
#include <string>

namespace sotto::ffmpeg {

template <auto free_by_address>
struct Release {
  template <class T>
  void operator()(T* object) const noexcept {
    free_by_address(&object);
  }
};

// A context that FFmpeg opened is closed; one over our own functions only gives back its memory.
struct CloseIo {
  bool own_functions = false;
  void operator()(AVIOContext* io) const noexcept {
    if (own_functions) {
      av_freep(&io->buffer);
      avio_context_free(&io);
    } else {
      avio_closep(&io);
    }
  }
};
using IoContext = std::unique_ptr<AVIOContext, CloseIo>;
using FormatContext = std::unique_ptr<AVFormatContext, Release<avformat_close_input>>;
using CodecContext = std::unique_ptr<AVCodecContext, Release<avcodec_free_context>>;
using Dictionary = std::unique_ptr<AVDictionary, Release<av_dict_free>>;
using Packet = std::unique_ptr<AVPacket, Release<av_packet_free>>;
using Frame = std::unique_ptr<AVFrame, Release<av_frame_free>>;
using Resampler = std::unique_ptr<SwrContext, Release<swr_free>>;

inline std::string error_text(int status) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(status, text, sizeof text);
  return text;
}

inline double seconds(int64_t ticks, AVRational time_base) {
  return static_cast<double>(ticks) * av_q2d(time_base);
}

}  // namespace sotto::ffmpeg
