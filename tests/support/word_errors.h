#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sotto::test {

// Lower case, no punctuation (an apostrophe inside a word stays), split at spaces and hyphens.
std::vector<std::string> normalised_words(std::string_view text);

// Word error rate over many texts: insertions, deletions and substitutions over the words of the references.
class WordErrors {
 public:
  void add(std::string_view reference, std::string_view hypothesis);
  size_t words() const noexcept { return words_; }
  double percent() const noexcept {
    return words_ == 0 ? 0 : 100.0 * static_cast<double>(errors_) / static_cast<double>(words_);
  }

 private:
  size_t words_ = 0, errors_ = 0;
};

// The fewest word edits that turn one text into the other.
size_t word_edits(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace sotto::test
