#include "probe/questions.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace sotto::probing {

std::string uuid_text(const unsigned char (&bytes)[16]) {
  if (std::all_of(std::begin(bytes), std::end(bytes), [](unsigned char byte) { return byte == 0; }))
    return {};
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

std::string pci_address_text(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr size_t kLength = 12;  // "0000:03:00.0"
  if (text.size() > kLength) text.erase(0, text.size() - kLength);
  return text;
}

}  // namespace sotto::probing
