// Any bytes as one of the JSON files of a Hugging Face folder (the first byte chooses which): refused with an
// Error, or read so that writing it and reading it again gives the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "model/config_json.h"
#include "model/vocabulary.h"

namespace {

using namespace sotto;

constexpr int kVocabulary = 300;

void require(bool condition) {
  if (!condition) std::abort();
}

ModelConfig some_config() {
  return {80, 1500, 448, 384, kVocabulary, 4, 6, 1536, 4, 6, 1536};
}

void read_config(std::string_view text) {
  Checkpoint checkpoint;
  checkpoint.config = model_config_from_json(parse_json_object(text, "config.json"), "config.json");
  const Json again = parse_json_object(config_json_text(checkpoint), "config.json");
  require(model_config_from_json(again, "config.json") == checkpoint.config);
}

void read_generation(std::string_view text) {
  Checkpoint checkpoint;
  checkpoint.config = some_config();
  read_generation_json(parse_json_object(text, "g"), checkpoint.config, "g", checkpoint.generation);
  GenerationConfig again;
  read_generation_json(parse_json_object(generation_json_text(checkpoint), "g"), checkpoint.config, "g",
                       again);
  require(again == checkpoint.generation);
}

void require_round_trip(const Vocabulary& vocabulary) {
  const std::string text = tokenizer_json_from_vocabulary(vocabulary, "fuzz");
  require(vocabulary_from_tokenizer_json(text, "written", kVocabulary) == vocabulary);
}

// Two lines of "---" separate vocab.json, merges.txt and added_tokens.json.
void read_vocab_and_merges(std::string_view text) {
  std::string_view parts[3];
  for (std::string_view& part : parts) {
    const size_t end = text.find("\n---\n");
    part = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 5);
  }
  require_round_trip(vocabulary_from_vocab_and_merges(parts[0], parts[1], parts[2], "vocab", kVocabulary));
}

void read_one(uint8_t which, std::string_view text) {
  switch (which) {
    case 'c':
      return read_config(text);
    case 'g':
      return read_generation(text);
    case 'p':
      return check_preprocessor_json(parse_json_object(text, "p"), some_config(), "p");
    case 't':
      return require_round_trip(vocabulary_from_tokenizer_json(text, "tokenizer", kVocabulary));
    default:
      return read_vocab_and_merges(text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  try {
    read_one(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const Error&) {
  }
  return 0;
}
