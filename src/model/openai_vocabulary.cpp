#include "model/openai_vocabulary.h"

#include <array>
#include <charconv>
#include <optional>

#include "model/byte_reader.h"
#include "model/official_models.h"
#include "model/vocabulary.h"
#include "platform/mapped_file.h"

namespace sotto {
namespace {

constexpr int kSmallestMultilingual = 51865;

std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

struct RankedToken {
  std::string bytes;
  size_t rank;
};

std::optional<RankedToken> parse_line(std::string_view line) {
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  auto bytes = decode_base64(line.substr(0, space));
  size_t rank = 0;
  const char* end = line.data() + line.size();
  const auto [parsed_to, error] = std::from_chars(line.data() + space + 1, end, rank);
  if (!bytes || error != std::errc() || parsed_to != end) return std::nullopt;
  return RankedToken{std::move(*bytes), rank};
}

// A file's text, alive as long as this object. Nothing when there is no such file.
class TextFile {
 public:
  static std::optional<TextFile> open(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
    return TextFile(path);
  }
  std::string_view text() const { return as_text(region_->bytes()); }
  const std::string& name() const { return name_; }

 private:
  explicit TextFile(const std::filesystem::path& path) : name_(path.string()), region_(map_file(path)) {}
  std::string name_;
  std::shared_ptr<const Region> region_;
};

}  // namespace

Vocabulary vocabulary_from_tiktoken(std::string_view text, std::string_view name, int size) {
  Vocabulary vocabulary;
  for (size_t line_number = 1; !text.empty(); ++line_number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    auto token = parse_line(line);
    if (!token || token->rank != vocabulary.tokens.size())
      throw Error(ErrorCode::bad_model, "{}: line {} is not token {} in base64 with its rank", name,
                  line_number, vocabulary.tokens.size());
    vocabulary.tokens.push_back(std::move(token->bytes));
  }
  const size_t ordinary = vocabulary.tokens.size();
  if (ordinary >= static_cast<size_t>(size))
    throw Error(ErrorCode::bad_model,
                "{}: has {} tokens, but the model's vocabulary is {} with its special tokens", name, ordinary,
                size);
  vocabulary.special.assign(ordinary, false);
  vocabulary.tokens.resize(static_cast<size_t>(size));
  vocabulary.special.resize(static_cast<size_t>(size), true);
  vocabulary.tokens[ordinary] = "<|endoftext|>";
  name_missing_special_tokens(vocabulary);
  return vocabulary;
}

Vocabulary find_openai_vocabulary(const std::filesystem::path& folder, std::string_view file, int size) {
  if (const auto json = TextFile::open(folder / "tokenizer.json")) {
    Vocabulary vocabulary = vocabulary_from_tokenizer_json(json->text(), json->name(), size);
    name_missing_special_tokens(vocabulary);
    return vocabulary;
  }
  const auto vocab = TextFile::open(folder / "vocab.json");
  const auto merges = TextFile::open(folder / "merges.txt");
  if (vocab && merges) {
    const auto added = TextFile::open(folder / "added_tokens.json");
    Vocabulary vocabulary = vocabulary_from_vocab_and_merges(
        vocab->text(), merges->text(), added ? added->text() : std::string_view(), vocab->name(), size);
    name_missing_special_tokens(vocabulary);
    return vocabulary;
  }
  const char* tiktoken = size >= kSmallestMultilingual ? "multilingual.tiktoken" : "gpt2.tiktoken";
  for (const auto& candidate : {folder / tiktoken, folder / ".." / "assets" / tiktoken})
    if (const auto ranks = TextFile::open(candidate))
      return vocabulary_from_tiktoken(ranks->text(), ranks->name(), size);
  throw Error(
      ErrorCode::bad_model,
      "{}: OpenAI's checkpoints hold no vocabulary, and there is none beside it: place tokenizer.json of the "
      "Hugging Face model openai/whisper-<size> in the same folder",
      file);
}

}  // namespace sotto
