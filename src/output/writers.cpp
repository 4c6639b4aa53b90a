#include "output/writers.h"

namespace sotto {
namespace {

constexpr Writer kWriters[] = {
    {"txt", "one line of text per segment", write_txt},
    {"srt", "SubRip subtitles", write_srt},
    {"vtt", "WebVTT subtitles", write_vtt},
    {"json", "everything that is known about the transcript and its segments", write_json},
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
