#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "model/json_text.h"
#include "model/vocabulary.h"
#include "model/vocabulary_builder.h"

namespace sotto {
namespace {

constexpr size_t kMostNesting = 64;

// tokenizer.json is by far the largest text of a model, and it is read at every start. So it goes straight
// into the vocabulary as it is parsed; a tree of its 100,000 values would take three times as long.
class TokenizerJsonReader final : public nlohmann::json_sax<Json> {
 public:
  TokenizerJsonReader(std::string_view name, int size) : name_(name), builder_(name, size) {}

  // To be called when all has been parsed. Added tokens come last: they overrule what the vocabulary says of
  // them.
  Vocabulary take() {
    if (!seen_vocab_) throw bad("'model' has no 'vocab' object");
    if (!seen_merges_) throw bad("'model' has no 'merges' list");
    for (const AddedToken& token : added_) builder_.add_named(token.content, *token.id, token.special);
    return builder_.take();
  }

  bool start_object(size_t /*elements*/) override {
    if (places_.empty()) return open(Place::file);
    if (at(Place::file, "model")) return open(Place::model);
    if (at(Place::model, "vocab")) return open(first(seen_vocab_, Place::vocab));
    if (place() != Place::added) return other_value() && open(Place::other);
    added_.emplace_back();
    return open(Place::token);
  }

  bool start_array(size_t /*elements*/) override {
    if (places_.empty()) throw bad("should hold a JSON object");
    if (at(Place::file, "added_tokens")) return open(first(seen_added_, Place::added));
    if (at(Place::model, "merges")) return open(first(seen_merges_, Place::merges));
    if (place() != Place::merges) return other_value() && open(Place::other);
    merge_.clear();
    return open(Place::merge);
  }

  bool end_object() override {
    const bool token = place() == Place::token;
    places_.pop_back();
    if (token && (added_.back().content.empty() || !added_.back().id))
      throw bad("an added token lacks its id or content");
    return true;
  }

  bool end_array() override {
    const bool merge = place() == Place::merge;
    places_.pop_back();
    if (merge && merge_.size() != 2) throw bad("a merge is not a pair of tokens");
    if (merge) builder_.add_merge(merge_[0], merge_[1]);
    return true;
  }

  bool key(string_t& name) override {
    key_.swap(name);
    return true;
  }

  bool string(string_t& value) override {
    if (place() == Place::merge)
      merge_.push_back(std::move(value));
    else if (place() == Place::merges)
      builder_.add_merge(value);
    else if (at(Place::token, "content"))
      added_.back().content = std::move(value);
    else if (at(Place::model, "type") && value != "BPE")
      throw bad("the tokenizer is not of the type BPE");
    else
      return other_value();
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    const auto id = static_cast<int64_t>(std::min<number_unsigned_t>(value, INT32_MAX));
    if (place() == Place::vocab)
      builder_.add_spelled(key_, id);
    else if (at(Place::token, "id"))
      added_.back().id = id;
    else
      return other_value();
    return true;
  }

  bool boolean(bool value) override {
    if (!at(Place::token, "special")) return other_value();
    added_.back().special = value;
    return true;
  }

  bool null() override { return other_value(); }
  bool number_integer(number_integer_t /*value*/) override { return other_value(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return other_value(); }
  bool binary(binary_t& /*value*/) override { return false; }

  bool parse_error(size_t position, const std::string& /*token*/, const Json::exception& /*why*/) override {
    throw Error(ErrorCode::bad_model, "{}: is not valid JSON (around byte {})", name_, position);
  }

 private:
  enum class Place { file, model, vocab, merges, merge, added, token, other };

  struct AddedToken {
    std::string content;
    std::optional<int64_t> id;
    bool special = false;
  };

  Error bad(std::string_view what) const { return {ErrorCode::bad_model, "{}: {}", name_, what}; }

  Place place() const { return places_.empty() ? Place::other : places_.back(); }
  bool at(Place where, std::string_view key) const { return place() == where && key_ == key; }

  bool open(Place where) {
    if (places_.size() == kMostNesting) throw bad("its JSON is nested too deeply");
    places_.push_back(where);
    return true;
  }

  Place first(bool& seen, Place where) const {
    if (seen) throw Error(ErrorCode::bad_model, "{}: the key '{}' occurs twice", name_, key_);
    seen = true;
    return where;
  }

  // A value that says nothing to us is passed over, but not where each value has a meaning.
  bool other_value() const {
    if (places_.empty()) throw bad("should hold a JSON object");
    if (place() == Place::vocab)
      throw Error(ErrorCode::bad_model, "{}: the token '{}' has no valid id", name_, key_);
    if (place() == Place::merges || place() == Place::merge) throw bad("a merge is not a pair of tokens");
    if (place() == Place::added) throw bad("an added token is not an object");
    return true;
  }

  std::string_view name_;
  VocabularyBuilder builder_;
  std::vector<Place> places_;
  std::string key_;
  std::vector<std::string> merge_;
  std::vector<AddedToken> added_;
  bool seen_vocab_ = false, seen_merges_ = false, seen_added_ = false;
};

}  // namespace

Vocabulary vocabulary_from_tokenizer_json(std::string_view json, std::string_view name, int size) {
  TokenizerJsonReader reader(name, size);
  Json::sax_parse(json.begin(), json.end(), &reader);
  return reader.take();
}

}  // namespace sotto
