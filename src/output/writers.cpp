#include "output/writers.h"

namespace sotto {
namespace {

constexpr Writer kWriters[] = {
    {"txt", "one line of text per segment", write_txt},
    {"srt", "SubRip subtitles", write_srt},
    {"vtt", "WebVTT subtitles", write_vtt},
    {"tsv", "start and end in milliseconds and the text of each segment, between tabs", write_tsv},
    {"json", "everything that is known about the transcript and its segments", write_json},
    {"lrc", "lyrics with the time of each line", write_lrc},
    {"ass", "Advanced SubStation Alpha subtitles", write_ass},
};

}  // namespace

std::span<const Writer> writers() noexcept {
  return kWriters;
}

const Writer* find_writer(std::string_view format) noexcept {
  for (const Writer& writer : kWriters)
    if (writer.format == format) return &writer;
  return nullptr;
}

}  // namespace sotto
