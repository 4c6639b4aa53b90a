#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "whisper/network.h"
#include "whisper/tokenizer.h"
#include "whisper/window_segments.h"

namespace sotto {

struct TimedWord {
  std::string text;  // with its leading space, as decoded
  double start = 0;  // seconds from the window's begin
  double end = 0;
  double probability = 0;  // mean of its tokens'
};

struct WordTimingOptions {
  std::string prepend_punctuations;  // joined to the word after them
  std::string append_punctuations;   // joined to the word before them
};

// When the words of a window's segments were spoken, one list per segment: the alignment heads'
// cross-attention, normalised and median-filtered, then dynamic time warping, then repairs: over-long words
// at sentence ends and pauses as the reference shortens them, and words that begin or end in a quiet stretch
// moved to its border.
//   alignment        covers the start tokens, all text tokens of the window and the end token, in this order;
//   the
//                    segments hold the first of those text tokens (text cut off by the window's end has no
//                    segment)
//   start_tokens     how many start tokens there are
//   frames           mel frames of real audio
//   loudness         of each of them; empty: no repair at quiet stretches
//   last_speech_end  where the text before this window ended, on its time line (0 or less)
// Words lie inside their segment; starts and ends never go back.
struct WordTimingInput {
  const Alignment& alignment;
  size_t start_tokens = 0;
  int frames = 0;
  std::span<const float> loudness;
  double last_speech_end = 0;
};
std::vector<std::vector<TimedWord>> time_words(const Tokenizer& tokenizer, std::string_view language,
                                               const WordTimingInput& input, const WordTimingOptions& options,
                                               std::span<const WindowSegment> segments);

}  // namespace sotto
