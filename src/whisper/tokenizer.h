#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint.h"

namespace sotto {

// The special tokens that decoding needs, looked up by name. `none` where the model lacks one.
struct SpecialTokens {
  static constexpr TokenId none = -1;
  TokenId end = none;              // <|endoftext|>
  TokenId start = none;            // <|startoftranscript|>
  TokenId translate = none;        // <|translate|>
  TokenId transcribe = none;       // <|transcribe|>
  TokenId start_of_prompt = none;  // <|startofprev|>
  TokenId no_speech = none;        // <|nospeech|>, or <|nocaptions|> in older files
  TokenId no_timestamps = none;    // <|notimestamps|>
  TokenId first_timestamp = none;  // <|0.00|>
  TokenId last_timestamp = none;   // <|30.00|>
};

// Byte-level byte-pair encoding, both ways.
class Tokenizer {
 public:
  // Throws Error(bad_model) when the vocabulary lacks bytes or needed special tokens.
  explicit Tokenizer(Vocabulary vocabulary);

  int size() const noexcept { return static_cast<int>(vocabulary_.tokens.size()); }
  const SpecialTokens& special() const noexcept { return special_; }

  // Ordinary text to tokens; what looks like a special token in the text is encoded as plain text.
  std::vector<TokenId> encode(std::string_view text) const;

  // The bytes of the ordinary tokens; special tokens and timestamps leave nothing. Invalid or cut-off UTF-8
  // becomes U+FFFD, so the result is always valid UTF-8.
  std::string decode(std::span<const TokenId> tokens) const;

  // As decode, with special tokens by name and timestamps as <|1.20|>.
  std::string decode_with_special(std::span<const TokenId> tokens) const;

  std::string_view token_bytes(TokenId token) const;  // the name of a special one
  bool is_special(TokenId token) const noexcept;
  bool is_timestamp(TokenId token) const noexcept;
  double timestamp_seconds(TokenId token) const noexcept;

  std::optional<TokenId> find_special(std::string_view name) const;    // "<|en|>"
  std::optional<TokenId> language_token(std::string_view code) const;  // "en"

  struct Language {
    std::string code;
    TokenId token;
  };
  const std::vector<Language>& languages() const noexcept { return languages_; }  // by token id
  bool multilingual() const noexcept { return languages_.size() > 1; }

  // Tokens of brackets, quotes, music notes and the like that the reference never lets a transcript contain;
  // used where a model file has no suppress list of its own.
  std::vector<TokenId> non_speech_tokens() const;

 private:
  Vocabulary vocabulary_;
  SpecialTokens special_;
  std::vector<Language> languages_;
  struct Index;
  std::shared_ptr<const Index> index_;
};

// English names of language codes ("de" -> "german"), and back; the reference's table.
struct NamedLanguage {
  std::string_view code, name;  // string literals
};
std::span<const NamedLanguage> all_languages() noexcept;  // by code
std::optional<std::string_view> language_name(std::string_view code) noexcept;
std::optional<std::string_view> language_code(std::string_view name_or_code) noexcept;  // any case

}  // namespace sotto
