#include "whisper/tokenizer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/utf8.h"
#include "whisper/byte_pairs.h"
#include "whisper/text_pieces.h"

namespace sotto {
namespace {

// One timestamp every 20 ms up to the length of a window, which is 30 s in every Whisper model.
constexpr int kTimestampsPerSecond = 50;
constexpr int kTimestamps = 30 * kTimestampsPerSecond + 1;

// English-only models carry the names of all languages but know only one; their vocabulary's size is what
// tells.
constexpr size_t kEnglishOnlyVocabulary = 51864;

std::string timestamp_name(int index) {
  return fmt::format("<|{}.{:02}|>", index / kTimestampsPerSecond, index % kTimestampsPerSecond * 2);
}

bool is_timestamp_name(std::string_view name) noexcept {
  if (!name.starts_with("<|") || !name.ends_with("|>") || name.size() < 8) return false;
  const std::string_view number = name.substr(2, name.size() - 4);
  const size_t point = number.size() - 3;
  for (size_t i = 0; i < number.size(); ++i)
    if (i == point ? number[i] != '.' : number[i] < '0' || number[i] > '9') return false;
  return true;
}

TokenTable special_names(const Vocabulary& vocabulary) {
  TokenTable names(
      static_cast<size_t>(std::count(vocabulary.special.begin(), vocabulary.special.end(), true)));
  for (size_t i = 0; i < vocabulary.tokens.size(); ++i)
    if (vocabulary.special[i] && !vocabulary.tokens[i].empty())
      names.insert(vocabulary, static_cast<TokenId>(i));
  return names;
}

void require_one_flag_per_token(const Vocabulary& vocabulary) {
  if (vocabulary.tokens.size() != vocabulary.special.size())
    throw Error(ErrorCode::bad_model, "the vocabulary has {} tokens but {} marks of special ones",
                vocabulary.tokens.size(), vocabulary.special.size());
}

// Older files leave the timestamps out although the model has them: they are the nameless ids after
// <|notimestamps|>. Names them, so that all models look alike from here on.
void name_timestamps(Vocabulary& vocabulary) {
  const auto& tokens = vocabulary.tokens;
  if (std::any_of(tokens.begin(), tokens.end(), is_timestamp_name)) return;
  const auto before = std::find(tokens.begin(), tokens.end(), "<|notimestamps|>");
  if (before == tokens.end()) return;
  auto id = static_cast<size_t>(before - tokens.begin()) + 1;
  for (int i = 0; i < kTimestamps && id < tokens.size(); ++i, ++id) {
    if (!vocabulary.special[id] || !tokens[id].empty())
      throw Error(ErrorCode::bad_model,
                  "token {} of the vocabulary should be the timestamp {}, but is another token", id,
                  timestamp_name(i));
    vocabulary.tokens[id] = timestamp_name(i);
  }
}

// The last timestamp, given the first; all timestamps must follow each other in steps of 20 ms.
TokenId last_timestamp(const Vocabulary& vocabulary, TokenId first) {
  const auto& tokens = vocabulary.tokens;
  const auto begin = static_cast<size_t>(first);
  size_t end = begin;
  while (end < tokens.size() && tokens[end] == timestamp_name(static_cast<int>(end - begin))) ++end;
  const auto in_order = static_cast<std::ptrdiff_t>(end - begin);
  if (std::count_if(tokens.begin(), tokens.end(), is_timestamp_name) != in_order)
    throw Error(ErrorCode::bad_model,
                "the timestamps of the vocabulary are not in steps of 0.02 s: {} is missing or out of place",
                timestamp_name(static_cast<int>(in_order)));
  return first + static_cast<TokenId>(in_order) - 1;
}

std::string_view language_code_in(std::string_view name) noexcept {
  if (!name.starts_with("<|") || !name.ends_with("|>") || name.size() < 6) return {};
  const std::string_view code = name.substr(2, name.size() - 4);
  return language_name(code) ? code : std::string_view();
}

}  // namespace

struct Tokenizer::Index {
  explicit Index(const Vocabulary& vocabulary) : pairs(vocabulary), special(special_names(vocabulary)) {}

  BytePairs pairs;
  TokenTable special;
};

Tokenizer::Tokenizer(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {
  require_one_flag_per_token(vocabulary_);
  name_timestamps(vocabulary_);
  index_ = std::make_shared<const Index>(vocabulary_);
  vocabulary_.merges = {};  // now in the index

  const auto optional = [&](std::string_view name) { return index_->special.find(vocabulary_, name); };
  const auto required = [&](std::string_view name) {
    const TokenId token = optional(name);
    if (token == TokenTable::kNotFound)
      throw Error(ErrorCode::bad_model, "the vocabulary has no special token {}", name);
    return token;
  };
  special_.end = required("<|endoftext|>");
  special_.start = required("<|startoftranscript|>");
  special_.translate = optional("<|translate|>");
  special_.transcribe = optional("<|transcribe|>");
  special_.start_of_prompt = optional("<|startofprev|>");
  special_.no_speech = optional("<|nospeech|>");
  if (special_.no_speech == SpecialTokens::none) special_.no_speech = optional("<|nocaptions|>");
  special_.no_timestamps = required("<|notimestamps|>");
  special_.first_timestamp = required("<|0.00|>");
  special_.last_timestamp = last_timestamp(vocabulary_, special_.first_timestamp);

  const TokenId languages_end = special_.translate == SpecialTokens::none ? size() : special_.translate;
  for (TokenId token = special_.start + 1; token < languages_end; ++token) {
    const std::string_view code =
        is_special(token) ? language_code_in(token_bytes(token)) : std::string_view();
    if (code.empty() || (vocabulary_.tokens.size() == kEnglishOnlyVocabulary && code != "en")) continue;
    languages_.push_back({std::string(code), token});
  }
}

std::vector<TokenId> Tokenizer::encode(std::string_view text) const {
  if (text.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    throw Error(ErrorCode::usage, "a text of {} bytes is too long to be encoded", text.size());
  std::vector<TokenId> tokens;
  while (!text.empty()) {
    const std::string_view piece = first_piece(text);
    index_->pairs.encode(vocabulary_, piece, tokens);
    text.remove_prefix(piece.size());
  }
  return tokens;
}

std::string Tokenizer::decode(std::span<const TokenId> tokens) const {
  std::string bytes;
  for (const TokenId token : tokens)
    if (!is_special(token)) bytes += token_bytes(token);
  return replace_invalid_utf8(bytes);
}

std::string Tokenizer::decode_with_special(std::span<const TokenId> tokens) const {
  std::string bytes;
  for (const TokenId token : tokens) bytes += token_bytes(token);
  return replace_invalid_utf8(bytes);
}

std::string_view Tokenizer::token_bytes(TokenId token) const {
  if (token < 0 || token >= size())
    throw Error(ErrorCode::usage, "there is no token {} in a vocabulary of {}", token, size());
  return vocabulary_.tokens[static_cast<size_t>(token)];
}

bool Tokenizer::is_special(TokenId token) const noexcept {
  return token >= 0 && token < size() && vocabulary_.special[static_cast<size_t>(token)];
}

bool Tokenizer::is_timestamp(TokenId token) const noexcept {
  return token >= special_.first_timestamp && token <= special_.last_timestamp;
}

double Tokenizer::timestamp_seconds(TokenId token) const noexcept {
  return static_cast<double>(token - special_.first_timestamp) / kTimestampsPerSecond;
}

std::optional<TokenId> Tokenizer::find_special(std::string_view name) const {
  const TokenId token = index_->special.find(vocabulary_, name);
  return token == TokenTable::kNotFound ? std::nullopt : std::optional(token);
}

std::optional<TokenId> Tokenizer::language_token(std::string_view code) const {
  for (const Language& language : languages_)
    if (language.code == code) return language.token;
  return std::nullopt;
}

std::vector<TokenId> Tokenizer::non_speech_tokens() const {
  constexpr std::string_view kSymbols[] = {
      "\"",  "#",  "(",  ")",  "*",   "+",  "/",  ":",   ";",   "<",  "=",  ">",  "@",  "[",   "\\",  "]",
      "^",   "_",  "`",  "{",  "|",   "}",  "~",  "「",  "」",  "『", "』", "<<", ">>", "<<<", ">>>", "--",
      "---", "-(", "-[", "('", "(\"", "((", "))", "(((", ")))", "[[", "]]", "{{", "}}", "♪♪",  "♪♪♪"};
  constexpr std::string_view kMusic[] = {"♩", "♪", "♫", "♬", "♭", "♮", "♯"};

  std::vector<TokenId> result;
  const auto add_if_one_token = [&](const std::string& text) {
    if (const auto tokens = encode(text); tokens.size() == 1) result.push_back(tokens.front());
  };
  // Music symbols share their first token, so banning that bans them all. In a small vocabulary it can be a
  // single byte, which begins much else: then it stays.
  const auto add_first_token = [&](const std::string& text) {
    const TokenId first = encode(text).front();
    if (token_bytes(first).size() > 1) result.push_back(first);
  };
  // A hyphen or an apostrophe may stand inside a word, but not begin one.
  for (const char* text : {" -", " '"}) add_if_one_token(text);
  for (const std::string_view symbol : kSymbols) {
    add_if_one_token(std::string(symbol));
    add_if_one_token(fmt::format(" {}", symbol));
  }
  for (const std::string_view symbol : kMusic) {
    add_first_token(std::string(symbol));
    add_first_token(fmt::format(" {}", symbol));
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

}  // namespace sotto
