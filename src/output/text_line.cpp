#include "output/text_line.h"

#include "base/utf8.h"

namespace sotto {
namespace {

bool is_control(char32_t code) noexcept {
  constexpr char32_t kLineSeparator = 0x2028, kParagraphSeparator = 0x2029;
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == kLineSeparator ||
         code == kParagraphSeparator;
}

}  // namespace

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

}  // namespace sotto
