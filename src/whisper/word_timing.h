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

// When the words of a window's segments were spoken, one list per segment: the alignment heads' cross-attention,
// normalised and median-filtered, then dynamic time warping, then the reference's repairs at pauses, punctuation and
// over-long words. `alignment` covers the start tokens, all text tokens of the window and the end token, in this order;
// the segments hold the first of those text tokens (text cut off by the window's end has no segment). `frames` is the
// number of mel frames of real audio. `last_speech_end` is where the text before this window ended, on its time line
// (so 0 or less). Words lie inside their segment, whose borders are moved to the words where the reference does so; starts and ends never
// go back.
std::vector<std::vector<TimedWord>> time_words(const Tokenizer& tokenizer, std::string_view language,
                                               const Alignment& alignment, size_t start_tokens, int frames,
                                               double last_speech_end, const WordTimingOptions& options,
                                               std::vector<WindowSegment>& segments);

}  // namespace sotto
