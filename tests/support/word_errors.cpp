#include "support/word_errors.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace sotto::test {

std::vector<std::string> normalised_words(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isspace(byte) != 0 || c == '-') {
      if (!words.back().empty()) words.emplace_back();
    } else if (std::isalnum(byte) != 0 || byte >= 0x80 || c == '\'') {
      words.back() += static_cast<char>(std::tolower(byte));
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

size_t word_edits(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

void WordErrors::add(std::string_view reference, std::string_view hypothesis) {
  const auto expected = normalised_words(reference);
  words_ += expected.size();
  errors_ += word_edits(expected, normalised_words(hypothesis));
}

}  // namespace sotto::test
