#include "model/vocabulary_builder.h"

#include "base/error.h"
#include "model/vocabulary.h"

namespace sotto {
namespace {

// Whisper's special tokens are recognised by their form: files disagree on which of them they flag as
// special.
bool has_special_form(std::string_view token) {
  return token.size() > 4 && token.starts_with("<|") && token.ends_with("|>");
}

}  // namespace

VocabularyBuilder::VocabularyBuilder(std::string_view name, int size) : name_(name) {
  vocabulary_.tokens.resize(size);
  vocabulary_.special.resize(size, true);
  taken_.resize(size, false);
}

void VocabularyBuilder::add_spelled(std::string_view spelled, int64_t id) {
  if (has_special_form(spelled))
    add(id, std::string(spelled), true);
  else
    add(id, bytes_from_byte_level(spelled, name_), false);
}

void VocabularyBuilder::add_named(std::string_view content, int64_t id, bool marked_special) {
  add(id, std::string(content), marked_special || has_special_form(content));
}

void VocabularyBuilder::add_merge(std::string_view left, std::string_view right) {
  vocabulary_.merges.emplace_back(bytes_from_byte_level(left, name_), bytes_from_byte_level(right, name_));
}

void VocabularyBuilder::add_merge(std::string_view pair) {
  const size_t space = pair.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == pair.size() ||
      pair.find(' ', space + 1) != std::string_view::npos)
    throw Error(ErrorCode::bad_model, "{}: merge {} is not a pair of tokens", name_,
                vocabulary_.merges.size() + 1);
  add_merge(pair.substr(0, space), pair.substr(space + 1));
}

void VocabularyBuilder::add(int64_t id, std::string bytes, bool special) {
  if (id < 0 || id >= static_cast<int64_t>(vocabulary_.tokens.size()))
    throw Error(ErrorCode::bad_model, "{}: a token has the id {}, outside the model's {} tokens", name_, id,
                vocabulary_.tokens.size());
  std::string& place = vocabulary_.tokens[id];
  if (taken_[id] && place != bytes)
    throw Error(ErrorCode::bad_model, "{}: two different tokens have the id {}", name_, id);
  taken_[id] = true;
  place = std::move(bytes);
  vocabulary_.special[id] = special;
}

}  // namespace sotto
