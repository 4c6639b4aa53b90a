// SubRip and WebVTT.
#include <ostream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "output/marked_text.h"
#include "output/subtitle_cues.h"
#include "output/text_line.h"
#include "output/times.h"
#include "output/writers.h"

namespace sotto {
namespace {

// SRT has no way to quote an arrow, and many readers take any line with one for a cue's times: it is written
// shorter.
std::string srt_text(std::string line) {
  constexpr std::string_view kArrow = "-->";
  for (size_t at = line.find(kArrow); at != std::string::npos; at = line.find(kArrow, at == 0 ? 0 : at - 1))
    line.erase(at, 1);
  return line;
}

std::string vtt_text(std::string line) {
  replace_all(line, "&", "&amp;");  // first: the others bring new ones
  replace_all(line, "<", "&lt;");
  replace_all(line, ">", "&gt;");
  return line;
}

std::string srt_time(int64_t milliseconds) {
  const ClockTime t = clock_time(milliseconds);
  return fmt::format("{:02}:{:02}:{:02},{:03}", t.hours, t.minutes, t.seconds, t.milliseconds);
}

std::string vtt_time(int64_t milliseconds) {
  const ClockTime t = clock_time(milliseconds);
  if (t.hours == 0) return fmt::format("{:02}:{:02}.{:03}", t.minutes, t.seconds, t.milliseconds);
  return fmt::format("{:02}:{:02}:{:02}.{:03}", t.hours, t.minutes, t.seconds, t.milliseconds);
}

// Calls write(start, end, text) for everything that is shown: a cue, or with highlighting a cue once for each
// of its words, with that word underlined.
template <class Escape, class Write>
void for_each_text(const Transcript& transcript, const LineRules& rules, Escape escape, Write write) {
  for (const Cue& cue : subtitle_cues(transcript, rules)) {
    std::vector<int64_t> times;
    if (rules.highlight_words) times = highlight_times(cue);
    if (times.empty()) write(cue.start, cue.end, plain_text(cue, "\n", escape));
    for (size_t current = 0; current + 1 < times.size(); ++current) {
      const auto open = [&](size_t word) { return std::string(word == current ? "<u>" : ""); };
      const auto close = [&](size_t word) { return std::string(word == current ? "</u>" : ""); };
      write(times[current], times[current + 1], marked_text(cue, "\n", escape, open, close));
    }
  }
}

}  // namespace

void write_srt(std::ostream& out, const Transcript& transcript, const LineRules& rules) {
  int64_t number = 0;
  for_each_text(transcript, rules, srt_text, [&](int64_t start, int64_t end, const std::string& text) {
    out << fmt::format("{}\n{} --> {}\n{}\n\n", ++number, srt_time(start), srt_time(end), text);
  });
}

void write_vtt(std::ostream& out, const Transcript& transcript, const LineRules& rules) {
  out << "WEBVTT\n\n";
  for_each_text(transcript, rules, vtt_text, [&](int64_t start, int64_t end, const std::string& text) {
    out << fmt::format("{} --> {}\n{}\n\n", vtt_time(start), vtt_time(end), text);
  });
}

}  // namespace sotto
