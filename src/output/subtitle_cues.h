#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "output/line_rules.h"
#include "output/transcript.h"

namespace sotto {

struct CueWord {
  int64_t start = 0;  // milliseconds, within the cue
  int64_t end = 0;
  size_t line = 0;    // of the cue's lines
  size_t offset = 0;  // in bytes of that line
  size_t size = 0;
};

// What is on the screen from `start` to `end`, in milliseconds.
struct Cue {
  int64_t start = 0;
  int64_t end = 0;                 // always later than the start
  std::vector<std::string> lines;  // at least one, none empty; text, not yet in the markup of a format
  std::vector<CueWord> words;      // where word times are known, in the order of the text

  int characters() const;
};

// The subtitles of a transcript: all its text once and in order, in lines that follow the rules. Cues never
// overlap. Between two there is a short gap where time allows; a cue that is too short or too fast to be read
// stays into the silence that follows it, never into the next cue. docs/output.md has the rules in full.
std::vector<Cue> subtitle_cues(const Transcript& transcript, const LineRules& rules);

}  // namespace sotto
