#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/utf8.h"
#include "output/times.h"
#include "output/writers.h"

namespace sotto {
namespace {

bool is_control(char32_t code) noexcept {
  constexpr char32_t kLineSeparator = 0x2028, kParagraphSeparator = 0x2029;
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == kLineSeparator ||
         code == kParagraphSeparator;
}

// A segment's text as one line of valid UTF-8: line breaks and other control characters, which would end a
// cue or hide in a file, become a space together with the spaces around them, and the ends are trimmed. Empty
// where there is nothing to read.
std::string one_line(std::string_view text) {
  const std::string valid = replace_invalid_utf8(text);
  std::string line;
  line.reserve(valid.size());
  bool gap = false;
  for (std::string_view rest = valid; !rest.empty();) {
    const Utf8Character character = first_utf8_character(rest);
    if (is_control(character.code)) {
      gap = true;
    } else if (!gap || character.code != ' ') {
      if (gap && !line.ends_with(' ')) line += ' ';
      line += rest.substr(0, character.size);
      gap = false;
    }
    rest.remove_prefix(character.size);
  }
  const size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

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

struct ClockTime {
  int64_t hours, minutes, seconds, milliseconds;
};

ClockTime clock_time(int64_t milliseconds) noexcept {
  return {milliseconds / 3600000, milliseconds / 60000 % 60, milliseconds / 1000 % 60, milliseconds % 1000};
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

struct Cue {
  int64_t start,
      end;  // milliseconds; the end is later: a cue that lasts no time is never shown, and WebVTT forbids it
  std::string line;
};

// Calls write(cue) for every segment that has something to read.
template <class Write>
void for_each_cue(const Transcript& transcript, Write write) {
  for (const Segment& segment : transcript.segments) {
    std::string line = one_line(segment.text);
    if (line.empty()) continue;
    const int64_t start = to_milliseconds(segment.start);
    write(Cue{start, std::max(to_milliseconds(segment.end), start + 1), std::move(line)});
  }
}

}  // namespace

void write_txt(std::ostream& out, const Transcript& transcript) {
  for_each_cue(transcript, [&](const Cue& cue) { out << cue.line << '\n'; });
}

void write_srt(std::ostream& out, const Transcript& transcript) {
  int64_t number = 0;
  for_each_cue(transcript, [&](Cue cue) {
    out << fmt::format("{}\n{} --> {}\n{}\n\n", ++number, srt_time(cue.start), srt_time(cue.end),
                       srt_text(std::move(cue.line)));
  });
}

void write_vtt(std::ostream& out, const Transcript& transcript) {
  out << "WEBVTT\n\n";
  for_each_cue(transcript, [&](Cue cue) {
    out << fmt::format("{} --> {}\n{}\n\n", vtt_time(cue.start), vtt_time(cue.end),
                       vtt_text(std::move(cue.line)));
  });
}

}  // namespace sotto
