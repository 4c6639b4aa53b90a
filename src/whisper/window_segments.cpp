#include "whisper/window_segments.h"

#include <zlib.h>

namespace sotto {
namespace {

constexpr int kFramesPerTimestamp = 2;  // the encoder halves the mel frames
constexpr double kSecondsPerTimestamp = 0.02;

}  // namespace

WindowSplit split_window(const Tokenizer& tokenizer, std::span<const TokenId> tokens, int frames,
                         bool keep_unfinished) {
  const auto is_time = [&](size_t i) { return tokenizer.is_timestamp(tokens[i]); };
  const auto seconds = [&](TokenId token) { return tokenizer.timestamp_seconds(token); };
  const size_t count = tokens.size();
  const double whole = frames * kSecondsPerTimestamp / kFramesPerTimestamp;
  WindowSplit split;
  split.advance = frames;
  split.finished = count >= 2 && is_time(count - 1) && !is_time(count - 2);

  // Two times in a row stand between two segments: the end of one and the start of the next.
  std::vector<size_t> borders;
  for (size_t i = 1; i < count; ++i)
    if (is_time(i - 1) && is_time(i)) borders.push_back(i);

  if (borders.empty()) {
    double end = whole;
    for (size_t i = count; i-- > 0;) {
      if (!is_time(i)) continue;
      if (tokens[i] != tokenizer.special().first_timestamp) end = seconds(tokens[i]);
      break;
    }
    split.segments.push_back({0, end, {tokens.begin(), tokens.end()}});
    return split;
  }

  if (split.finished) borders.push_back(count);
  size_t begin = 0;
  for (const size_t border : borders) {
    const auto piece = tokens.subspan(begin, border - begin);
    split.segments.push_back({seconds(piece.front()), seconds(piece.back()), {piece.begin(), piece.end()}});
    begin = border;
  }
  if (split.finished) return split;
  if (keep_unfinished) {
    const auto piece = tokens.subspan(begin);
    split.segments.push_back({seconds(piece.front()), whole, {piece.begin(), piece.end()}});
  } else {
    const TokenId last_end = tokens[begin - 1];
    const int advance = (last_end - tokenizer.special().first_timestamp) * kFramesPerTimestamp;
    if (advance > 0 && advance < frames)
      split.advance = advance;  // else the window would come again for ever
  }
  return split;
}

double compression_ratio(std::string_view text) {
  if (text.empty()) return 0;
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::vector<Bytef> buffer(size);
  compress(buffer.data(), &size, reinterpret_cast<const Bytef*>(text.data()),
           static_cast<uLong>(text.size()));
  return static_cast<double>(text.size()) / static_cast<double>(size);
}

}  // namespace sotto
