#pragma once

#include <string>
#include <string_view>

#include "model/checkpoint.h"

namespace sotto {

// Puts a vocabulary of known size together from entries in any order. `name` is the file, for messages; it
// must outlive the builder. All of it throws Error(bad_model).
class VocabularyBuilder {
 public:
  VocabularyBuilder(std::string_view name, int size);

  void add_spelled(std::string_view spelled, int64_t id);  // an entry of the byte-pair vocabulary
  void add_named(std::string_view content, int64_t id,
                 bool marked_special);  // its text is not spelled byte by byte
  void add_merge(std::string_view left, std::string_view right);
  void add_merge(std::string_view pair);  // with a space between the two

  Vocabulary take() { return std::move(vocabulary_); }

 private:
  void add(int64_t id, std::string bytes, bool special);

  std::string_view name_;
  Vocabulary vocabulary_;
  std::vector<bool> taken_;
};

}  // namespace sotto
