// The formats without subtitle markup: plain text, tables and lyrics.
#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "output/subtitle_cues.h"
#include "output/text_line.h"
#include "output/times.h"
#include "output/writers.h"

namespace sotto {
namespace {

// Minutes are the largest unit of LRC: they grow beyond two digits.
std::string lrc_time(int64_t milliseconds) {
  const int64_t t = to_centiseconds(milliseconds);
  return fmt::format("[{:02}:{:02}.{:02}]", t / 6000, t / 100 % 60, t % 100);
}

// A bracket with a number in front of a line would be read as one more time.
std::string lrc_text(std::string line) {
  const bool like_time = line.size() > 1 && line[0] == '[' && line[1] >= '0' && line[1] <= '9';
  if (!like_time) return line;
  line[0] = '(';
  const size_t close = line.find(']');
  if (close != std::string::npos) line[close] = ')';
  return line;
}

void write_lrc_tag(std::ostream& out, std::string_view name, std::string_view value) {
  std::string line = one_line(value);
  if (line.empty()) return;
  std::replace(line.begin(), line.end(), '[', '(');
  std::replace(line.begin(), line.end(), ']', ')');
  out << fmt::format("[{}:{}]\n", name, line);
}

}  // namespace

void write_txt(std::ostream& out, const Transcript& transcript, const LineRules& /*rules*/) {
  for (const Segment& segment : transcript.segments) {
    const std::string line = one_line(segment.text);
    if (!line.empty()) out << line << '\n';
  }
}

void write_tsv(std::ostream& out, const Transcript& transcript, const LineRules& /*rules*/) {
  out << "start\tend\ttext\n";
  for (const Segment& segment : transcript.segments) {
    const std::string line = one_line(segment.text);  // has no tabs
    if (line.empty()) continue;
    const int64_t start = to_milliseconds(segment.start);
    out << fmt::format("{}\t{}\t{}\n", start, std::max(to_milliseconds(segment.end), start), line);
  }
}

void write_lrc(std::ostream& out, const Transcript& transcript, const LineRules& rules) {
  constexpr int64_t kClearAfter = 1000;  // milliseconds of silence after which no text should stay
  write_lrc_tag(out, "ti", transcript.file);
  write_lrc_tag(out, "re", "Sotto");
  write_lrc_tag(out, "ve", transcript.version);
  const int64_t length = to_milliseconds(transcript.duration) / 1000;
  if (length > 0) write_lrc_tag(out, "length", fmt::format("{:02}:{:02}", length / 60, length % 60));

  LineRules single = rules;
  single.max_lines = 1;
  const std::vector<Cue> cues = subtitle_cues(transcript, single);
  for (size_t i = 0; i < cues.size(); ++i) {
    out << lrc_time(cues[i].start) << lrc_text(cues[i].lines.front()) << '\n';
    if (i + 1 == cues.size() || cues[i + 1].start - cues[i].end >= kClearAfter)
      out << lrc_time(cues[i].end) << '\n';
  }
}

}  // namespace sotto
