#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "output/transcript.h"

namespace sotto {

// Pure functions: a transcript in, text out. One per format.
void write_txt(std::ostream& out, const Transcript& transcript);
void write_srt(std::ostream& out, const Transcript& transcript);
void write_vtt(std::ostream& out, const Transcript& transcript);
void write_json(std::ostream& out, const Transcript& transcript);

struct Writer {
  std::string_view format;  // also the file's extension
  std::string_view description;
  void (*write)(std::ostream&, const Transcript&);
};

std::span<const Writer> writers() noexcept;
const Writer* find_writer(std::string_view format) noexcept;

}  // namespace sotto
