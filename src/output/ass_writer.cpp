// Advanced SubStation Alpha.
#include <algorithm>
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

// Sizes are for a screen of 1920 x 1080, where 42 characters of this font fill most of the width. In the
// style for highlighting the words wait in white and turn yellow.
constexpr std::string_view kStyles = R"([V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Arial,68,&H00FFFFFF,&H00FFFFFF,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,3,1,2,60,60,60,1
Style: Words,Arial,68,&H0000FFFF,&H00FFFFFF,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,3,1,2,60,60,60,1

)";

// ASS has no way to quote a backslash: an invisible word joiner after it keeps the next letter from becoming
// a command.
std::string ass_text(std::string line) {
  replace_all(line, "\\", "\\\u2060");
  replace_all(line, "{", "\\{");
  replace_all(line, "}", "\\}");
  return line;
}

std::string ass_time(int64_t centiseconds) {
  const ClockTime t = clock_time(centiseconds * 10);
  return fmt::format("{}:{:02}:{:02}.{:02}", t.hours, t.minutes, t.seconds, t.milliseconds / 10);
}

// Each word after a tag that says for how long it is the current one.
std::string karaoke_text(const Cue& cue, const std::vector<int64_t>& times) {
  const auto tag = [&](size_t word) {
    const int64_t length = to_centiseconds(times[word + 1]) - to_centiseconds(times[word]);
    return fmt::format("{{\\k{}}}", length);
  };
  return marked_text(cue, "\\N", ass_text, tag, [](size_t) { return std::string(); });
}

}  // namespace

void write_ass(std::ostream& out, const Transcript& transcript, const LineRules& rules) {
  out << "[Script Info]\n";
  const std::string title = one_line(transcript.file), version = one_line(transcript.version);
  out << "; Made by Sotto" << (version.empty() ? "" : " ") << version << '\n';
  if (!title.empty()) out << "Title: " << title << '\n';
  out << "ScriptType: v4.00+\nPlayResX: 1920\nPlayResY: 1080\nWrapStyle: 0\nScaledBorderAndShadow: yes\n\n";
  out << kStyles;
  out << "[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n";
  int64_t free_from = 0;  // rounded times must not make cues overlap either
  for (const Cue& cue : subtitle_cues(transcript, rules)) {
    const int64_t start = std::max(to_centiseconds(cue.start), free_from);
    const int64_t end = std::max(to_centiseconds(cue.end), start + 1);
    free_from = end;
    std::vector<int64_t> times;
    if (rules.highlight_words) times = highlight_times(cue);
    out << fmt::format("Dialogue: 0,{},{},{},,0,0,0,,{}\n", ass_time(start), ass_time(end),
                       times.empty() ? "Default" : "Words",
                       times.empty() ? plain_text(cue, "\\N", ass_text) : karaoke_text(cue, times));
  }
}

}  // namespace sotto
