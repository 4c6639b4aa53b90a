#pragma once

namespace sotto {

// How subtitles are laid out. Characters are Unicode code points.
struct LineRules {
  int max_line_width = 42;
  int max_lines = 2;
  double max_cps = 20;           // characters a second; not above 0: no limit
  bool highlight_words = false;  // mark each word while it is spoken, where word times are known
};

}  // namespace sotto
