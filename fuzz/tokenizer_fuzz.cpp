// A vocabulary with made-up tokens and merges, then text for it: any vocabulary is refused with an Error or
// encodes any bytes so that they come back, and decodes any tokens to valid UTF-8.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/utf8.h"
#include "whisper/tokenizer.h"

namespace {

using namespace sotto;

class Input {
 public:
  explicit Input(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint8_t byte() {
    if (bytes_.empty()) return 0;
    const uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }

  std::string text(size_t longest) {
    const size_t size = std::min(longest, bytes_.size());
    std::string result(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size));
    bytes_ = bytes_.subspan(size);
    return result;
  }

 private:
  std::span<const uint8_t> bytes_;
};

void add(Vocabulary& vocabulary, std::string token, bool special) {
  vocabulary.tokens.push_back(std::move(token));
  vocabulary.special.push_back(special);
}

Vocabulary read_vocabulary(Input& input) {
  Vocabulary vocabulary;
  for (int byte = 0; byte < 256; ++byte) add(vocabulary, std::string(1, static_cast<char>(byte)), false);
  for (int merges = input.byte() % 16; merges > 0; --merges) {
    std::string left = vocabulary.tokens[input.byte() % vocabulary.tokens.size()];
    std::string right =
        vocabulary.tokens[vocabulary.tokens.size() - 1 - input.byte() % vocabulary.tokens.size()];
    add(vocabulary, left + right, false);
    vocabulary.merges.emplace_back(std::move(left), std::move(right));
  }
  if (input.byte() % 2 == 0) vocabulary.merges.clear();
  for (const char* name :
       {"<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|translate|>", "<|notimestamps|>"})
    add(vocabulary, name, true);
  for (int tokens = input.byte() % 16; tokens > 0; --tokens) {
    const uint8_t shape = input.byte();
    add(vocabulary, input.text(shape / 2 % 16), shape % 2 == 0);
  }
  return vocabulary;
}

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const Tokenizer& tokenizer, Input& input) {
  const std::string text = input.text(4096);
  const std::vector<TokenId> tokens = tokenizer.encode(text);
  std::string bytes;
  for (const TokenId token : tokens) {
    require(!tokenizer.is_special(token));
    bytes += tokenizer.token_bytes(token);
  }
  require(bytes == text);
  require(tokenizer.decode(tokens) == replace_invalid_utf8(text));
  std::vector<TokenId> any;
  for (const char byte : text) any.push_back((static_cast<uint8_t>(byte) * 257) % tokenizer.size());
  const std::string decoded = tokenizer.decode_with_special(any);
  require(replace_invalid_utf8(decoded) == decoded);
  for (const TokenId token : tokenizer.non_speech_tokens()) require(!tokenizer.is_special(token));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input({data, size});
  Vocabulary vocabulary = read_vocabulary(input);
  try {
    const Tokenizer tokenizer(std::move(vocabulary));
    check(tokenizer, input);
  } catch (const Error&) {
    // refused, as it should be
  }
  return 0;
}
