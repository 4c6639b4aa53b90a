#include "model/vocabulary.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "base/error.h"
#include "model/json_text.h"
#include "model/vocabulary_builder.h"

namespace sotto {
namespace {

// GPT-2 spells each byte as one printable character: printable Latin-1 bytes stand for themselves, the others
// follow from U+0100 on in order. All of them take one or two bytes of UTF-8.
struct ByteLevelTable {
  static constexpr int kNoByte = -1;
  std::array<uint16_t, 256> character_of_byte{};
  std::array<int16_t, 0x144> byte_of_character{};

  constexpr ByteLevelTable() {
    for (auto& byte : byte_of_character) byte = kNoByte;
    int unprintable = 0;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
      const int character = printable ? byte : 256 + unprintable++;
      character_of_byte[byte] = static_cast<uint16_t>(character);
      byte_of_character[character] = static_cast<int16_t>(byte);
    }
  }
};
constexpr ByteLevelTable kByteLevel;

int64_t token_id(const Json& id, const std::string& token, std::string_view name) {
  return integer_value(id, token, name, 0, std::numeric_limits<TokenId>::max());
}

}  // namespace

std::string bytes_from_byte_level(std::string_view spelled, std::string_view where) {
  std::string bytes;
  bytes.reserve(spelled.size());
  for (size_t i = 0; i < spelled.size(); ++i) {
    unsigned character = static_cast<unsigned char>(spelled[i]);
    if (character >= 0x80) {  // U+0080 to U+07FF take two bytes of UTF-8, and no token needs more
      const unsigned next = i + 1 < spelled.size() ? static_cast<unsigned char>(spelled[++i]) : 0;
      const bool two_bytes = character >= 0xc2 && character < 0xe0 && (next & 0xc0u) == 0x80;
      character = two_bytes ? (character & 0x1fu) << 6 | (next & 0x3fu) : 0;
    }
    const int byte = character < kByteLevel.byte_of_character.size() ? kByteLevel.byte_of_character[character]
                                                                     : ByteLevelTable::kNoByte;
    if (byte == ByteLevelTable::kNoByte)
      throw Error(ErrorCode::bad_model, "{}: the token '{}' holds a character that stands for no byte", where,
                  spelled);
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

std::string byte_level_from_bytes(std::string_view bytes) {
  std::string spelled;
  spelled.reserve(bytes.size() * 2);
  for (const char byte : bytes) {
    const unsigned character = kByteLevel.character_of_byte[static_cast<unsigned char>(byte)];
    if (character < 0x80) {
      spelled.push_back(static_cast<char>(character));
    } else {
      spelled.push_back(static_cast<char>(0xc0u | (character >> 6)));
      spelled.push_back(static_cast<char>(0x80u | (character & 0x3fu)));
    }
  }
  return spelled;
}

Vocabulary vocabulary_from_vocab_and_merges(std::string_view vocab_json, std::string_view merges_txt,
                                            std::string_view added_tokens_json, std::string_view name,
                                            int size) {
  VocabularyBuilder builder(name, size);
  const Json vocabulary = parse_json_object(vocab_json, name);
  for (const auto& [token, id] : vocabulary.get_ref<const Json::object_t&>())
    builder.add_spelled(token, token_id(id, token, name));
  if (!added_tokens_json.empty()) {
    const Json added = parse_json_object(added_tokens_json, name);
    for (const auto& [token, id] : added.get_ref<const Json::object_t&>())
      builder.add_named(token, token_id(id, token, name), false);
  }
  for (size_t start = 0; start < merges_txt.size();) {
    const size_t end = std::min(merges_txt.find('\n', start), merges_txt.size());
    std::string_view line = merges_txt.substr(start, end - start);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool heading = start == 0 && line.starts_with("#version");
    if (!line.empty() && !heading) builder.add_merge(line);
    start = end + 1;
  }
  return builder.take();
}

std::string tokenizer_json_from_vocabulary(const Vocabulary& vocabulary, std::string_view source) {
  Json tokens = Json::object(), added = Json::array(), merges = Json::array();
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const std::string& bytes = vocabulary.tokens[id];
    if (!vocabulary.special[id]) {
      const auto [first, is_new] = tokens.emplace(byte_level_from_bytes(bytes), id);
      if (!is_new)
        throw Error(ErrorCode::unsupported,
                    "{}: the tokens {} and {} have the same bytes, which tokenizer.json cannot say", source,
                    first->dump(), id);
    } else if (!bytes.empty()) {
      added.push_back({{"id", id},
                       {"content", bytes},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", true}});
    }
  }
  for (const auto& [left, right] : vocabulary.merges)
    merges.push_back({byte_level_from_bytes(left), byte_level_from_bytes(right)});
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const Json file = {
      {"version", "1.0"},
      {"added_tokens", std::move(added)},
      {"pre_tokenizer", byte_level},
      {"decoder", byte_level},
      {"model", {{"type", "BPE"}, {"vocab", std::move(tokens)}, {"merges", std::move(merges)}}}};
  // Names of special tokens may come from a file that is not UTF-8; JSON must be.
  return file.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sotto
