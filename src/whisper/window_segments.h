#pragma once

#include <span>
#include <vector>

#include "whisper/tokenizer.h"

namespace sotto {

// A stretch of text inside one window.
struct WindowSegment {
  double start = 0;  // seconds from the window's begin
  double end = 0;
  std::vector<TokenId> tokens;  // with its timestamps
};

struct WindowSplit {
  std::vector<WindowSegment> segments;
  int advance = 0;        // mel frames to the begin of the next window
  bool finished = false;  // the text ends with one time: the window holds nothing more
};

// Cuts what the model wrote for a window into segments at its timestamps, and says where the next window
// begins: after the last finished segment where the text was cut off by the window's end, else after the
// whole window. `frames` is the number of mel frames of real audio in the window. With keep_unfinished the
// text that was cut off is a segment too, up to the window's end: for windows that do not come again.
WindowSplit split_window(const Tokenizer& tokenizer, std::span<const TokenId> tokens, int frames,
                         bool keep_unfinished = false);

// How well the text compresses (bytes over zlib's bytes): a repetition loop is far above 2.4. 0 for no text.
double compression_ratio(std::string_view text);

}  // namespace sotto
