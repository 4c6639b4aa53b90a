#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "output/line_rules.h"
#include "output/transcript.h"

namespace sotto {

// Pure functions: a transcript in, text out. One per format; docs/output.md describes them. Formats without
// subtitles ignore the rules.
void write_txt(std::ostream& out, const Transcript& transcript, const LineRules& rules);
void write_srt(std::ostream& out, const Transcript& transcript, const LineRules& rules);
void write_vtt(std::ostream& out, const Transcript& transcript, const LineRules& rules);
void write_tsv(std::ostream& out, const Transcript& transcript, const LineRules& rules);
void write_json(std::ostream& out, const Transcript& transcript, const LineRules& rules);
void write_lrc(std::ostream& out, const Transcript& transcript, const LineRules& rules);
void write_ass(std::ostream& out, const Transcript& transcript, const LineRules& rules);

struct Writer {
  std::string_view format;  // also the file's extension
  std::string_view description;
  void (*write)(std::ostream&, const Transcript&, const LineRules&);
};

std::span<const Writer> writers() noexcept;
const Writer* find_writer(std::string_view format) noexcept;

}  // namespace sotto
