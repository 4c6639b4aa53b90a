#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "output/subtitle_cues.h"

namespace sotto {

// A cue's text in the markup of a format. `escape` turns plain text into the format's, `before` and `after`
// give what stands around the word of an index, `line_break` what divides lines.
template <class Escape, class Before, class After>
std::string marked_text(const Cue& cue, std::string_view line_break, Escape escape, Before before,
                        After after) {
  std::string text;
  size_t word = 0;
  for (size_t line = 0; line < cue.lines.size(); ++line) {
    const std::string& plain = cue.lines[line];
    if (line > 0) text += line_break;
    size_t done = 0;
    for (; word < cue.words.size() && cue.words[word].line == line; ++word) {
      const CueWord& at = cue.words[word];
      text += escape(plain.substr(done, at.offset - done));
      text += before(word) + escape(plain.substr(at.offset, at.size)) + after(word);
      done = at.offset + at.size;
    }
    text += escape(plain.substr(done));
  }
  return text;
}

template <class Escape>
std::string plain_text(const Cue& cue, std::string_view line_break, Escape escape) {
  std::string text;
  for (const std::string& line : cue.lines)
    text += (text.empty() ? "" : std::string(line_break)) + escape(line);
  return text;
}

// When each word of a cue is the current one: from the time at its index to the next, the first from the
// start of the cue and the last to its end. Strictly rising; empty when the cue has no words or is too short
// for them.
std::vector<int64_t> highlight_times(const Cue& cue);

}  // namespace sotto
