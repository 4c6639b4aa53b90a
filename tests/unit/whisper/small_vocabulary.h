#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "model/checkpoint.h"

namespace sotto {

// Vocabularies made for tests: all 256 bytes in order (so that a byte's id is its value), then what the test
// adds.
class VocabularyMaker {
 public:
  VocabularyMaker() {
    for (int byte = 0; byte < 256; ++byte) ordinary(std::string(1, static_cast<char>(byte)));
  }

  VocabularyMaker& ordinary(std::string bytes) { return add(std::move(bytes), false); }
  VocabularyMaker& special(std::string name) { return add(std::move(name), true); }

  VocabularyMaker& merge(const std::string& left, const std::string& right) {
    vocabulary_.merges.emplace_back(left, right);
    return ordinary(left + right);
  }

  VocabularyMaker& specials(std::initializer_list<const char*> names) {
    for (const char* name : names) special(name);
    return *this;
  }

  VocabularyMaker& timestamps(int count = 1501) {
    for (int i = 0; i < count; ++i) special(fmt::format("<|{:.2f}|>", i * 0.02));
    return *this;
  }

  // What every model has, with two languages.
  VocabularyMaker& standard_specials() {
    return specials({"<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>",
                     "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>",
                     "<|notimestamps|>"});
  }

  size_t size() const { return vocabulary_.tokens.size(); }
  Vocabulary make() const { return vocabulary_; }

 private:
  VocabularyMaker& add(std::string bytes, bool is_special) {
    vocabulary_.tokens.push_back(std::move(bytes));
    vocabulary_.special.push_back(is_special);
    return *this;
  }

  Vocabulary vocabulary_;
};

}  // namespace sotto
