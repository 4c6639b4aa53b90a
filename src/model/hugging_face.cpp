#include <array>
#include <cstring>
#include <set>

#include "base/error.h"
#include "model/config_json.h"
#include "model/official_models.h"
#include "model/reader.h"
#include "model/safetensors.h"
#include "model/tensor_names.h"
#include "model/vocabulary.h"

namespace sotto {
namespace fs = std::filesystem;
namespace {

using Tensors = std::map<std::string, TensorView>;

constexpr const char* kConfig = "config.json";
constexpr const char* kGeneration = "generation_config.json";
constexpr const char* kPreprocessor = "preprocessor_config.json";
constexpr const char* kTokenizer = "tokenizer.json";
constexpr const char* kVocab = "vocab.json";
constexpr const char* kMerges = "merges.txt";
constexpr const char* kAddedTokens = "added_tokens.json";
constexpr std::array kTextNames = {kConfig, kGeneration, kPreprocessor, kTokenizer,
                                   kVocab,  kMerges,     kAddedTokens};

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kWeightsIndex = "model.safetensors.index.json";
constexpr size_t kMostTextBytes = 100'000'000;

// The JSON files of a model, whether they are files of a folder or lie in a file's metadata.
class ModelTexts {
 public:
  struct Text {
    std::string name;  // for messages
    std::string_view text;
  };

  static ModelTexts from_folder(const fs::path& folder) {
    ModelTexts texts;
    for (const char* name : kTextNames) {
      const fs::path path = folder / name;
      if (!fs::exists(path)) continue;
      texts.owners_.push_back(map_file(path));
      const auto bytes = texts.owners_.back()->bytes();
      if (bytes.size() > kMostTextBytes)
        throw Error(ErrorCode::bad_model, "{}: has {} bytes, which no model needs", path.string(),
                    bytes.size());
      texts.texts_[name] = {path.string(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
    }
    return texts;
  }

  // The metadata must outlive the result.
  static ModelTexts from_metadata(const std::map<std::string, std::string>& metadata,
                                  const std::string& file) {
    ModelTexts texts;
    for (const char* name : kTextNames)
      if (const auto found = metadata.find(name); found != metadata.end())
        texts.texts_[name] = {file + ", " + name, found->second};
    return texts;
  }

  const Text* find(const char* name) const {
    const auto found = texts_.find(name);
    return found == texts_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Text> texts_;
  std::vector<std::shared_ptr<const Region>> owners_;
};

bool same_bytes(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.data.size() == b.data.size() &&
         std::memcmp(a.data.data(), b.data.data(), a.data.size()) == 0;
}

Tensors without_prefix(Tensors named, const std::string& source) {
  constexpr std::string_view kPrefix = "model.";
  Tensors tensors;
  for (auto& [name, tensor] : named) {
    const std::string plain = name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
    if (!tensors.emplace(plain, std::move(tensor)).second)
      throw Error(ErrorCode::bad_model, "{}: the tensor '{}' occurs with and without '{}'", source, plain,
                  kPrefix);
  }
  return tensors;
}

// Tied models may store the output matrix all the same; it is kept only where it says something of its own.
void drop_tied_output(Tensors& tensors, bool tied) {
  const auto output = tensors.find(kOutputMatrix);
  const auto embedding = tensors.find(kEmbedding);
  if (output == tensors.end() || embedding == tensors.end()) return;
  if (tied || same_bytes(output->second, embedding->second)) tensors.erase(output);
}

Checkpoint assemble_weights(const std::string& source, const ModelTexts& texts, Tensors tensors) {
  const ModelTexts::Text* config_text = texts.find(kConfig);
  if (config_text == nullptr) throw Error(ErrorCode::bad_model, "{}: {} is missing", source, kConfig);
  const Json config = parse_json_object(config_text->text, config_text->name);
  Checkpoint checkpoint;
  checkpoint.source = source;
  checkpoint.format = "safetensors";
  checkpoint.config = model_config_from_json(config, config_text->name);
  read_generation_json(config, checkpoint.config, config_text->name, checkpoint.generation);
  if (const auto* generation = texts.find(kGeneration))
    read_generation_json(parse_json_object(generation->text, generation->name), checkpoint.config,
                         generation->name, checkpoint.generation);
  if (const auto* preprocessor = texts.find(kPreprocessor))
    check_preprocessor_json(parse_json_object(preprocessor->text, preprocessor->name), checkpoint.config,
                            preprocessor->name);
  checkpoint.tensors = without_prefix(std::move(tensors), source);
  drop_tied_output(checkpoint.tensors, ties_output_to_embedding(config));
  check_weights(checkpoint);
  return checkpoint;
}

Vocabulary read_vocabulary(const ModelTexts& texts, const std::string& source, int size) {
  if (const auto* tokenizer = texts.find(kTokenizer))
    return vocabulary_from_tokenizer_json(tokenizer->text, tokenizer->name, size);
  const auto* vocab = texts.find(kVocab);
  const auto* merges = texts.find(kMerges);
  if (vocab == nullptr || merges == nullptr)
    throw Error(ErrorCode::bad_model, "{}: has no tokenizer: neither {} nor {} with {}", source, kTokenizer,
                kVocab, kMerges);
  const auto* added = texts.find(kAddedTokens);
  return vocabulary_from_vocab_and_merges(vocab->text, merges->text, added == nullptr ? "" : added->text,
                                          vocab->name, size);
}

// The vocabulary comes last: its size has then been checked against the embedding, so it cannot be a wild
// number.
Checkpoint assemble(const std::string& source, const ModelTexts& texts, Tensors tensors) {
  Checkpoint checkpoint = assemble_weights(source, texts, std::move(tensors));
  checkpoint.vocabulary = read_vocabulary(texts, source, checkpoint.config.vocabulary);
  name_missing_special_tokens(checkpoint.vocabulary);
  check_checkpoint(checkpoint);
  return checkpoint;
}

std::string shard_name(const Json& value, const std::string& tensor, const std::string& index) {
  const std::string& shard = string_value(value, tensor, index);
  if (shard.empty() || shard == "." || shard == ".." ||
      shard.find_first_of(std::string_view("/\\\0", 3)) != shard.npos)
    throw Error(ErrorCode::bad_model,
                "{}: the tensor '{}' is said to be in '{}', which is not a file of this folder", index,
                tensor, shard);
  return shard;
}

Tensors read_shards(const fs::path& folder, const fs::path& index_path) {
  const NamedBytes index{index_path.string(), map_file(index_path)};
  const auto bytes = index.region->bytes();
  const Json json =
      parse_json_object({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, index.name);
  const Json* weight_map = find_member(json, "weight_map");
  if (weight_map == nullptr || !weight_map->is_object())
    throw Error(ErrorCode::bad_model, "{}: 'weight_map' should be an object", index.name);
  std::map<std::string, std::vector<std::string>> tensors_of_shard;
  for (const auto& [tensor, shard] : weight_map->get_ref<const Json::object_t&>())
    tensors_of_shard[shard_name(shard, tensor, index.name)].push_back(tensor);
  Tensors tensors;
  for (const auto& [shard, names] : tensors_of_shard) {
    const NamedBytes file{(folder / shard).string(), map_file(folder / shard)};
    SafetensorsContent content = read_safetensors(file);
    for (const std::string& name : names)
      if (!content.tensors.contains(name))
        throw Error(ErrorCode::bad_model, "{}: the tensor '{}' is missing, although {} promises it",
                    file.name, name, kWeightsIndex);
    for (auto& [name, tensor] : content.tensors)
      if (!tensors.emplace(name, std::move(tensor)).second)
        throw Error(ErrorCode::bad_model, "{}: the tensor '{}' is also in another file of the model",
                    file.name, name);
  }
  return tensors;
}

Tensors read_folder_tensors(const fs::path& folder) {
  const fs::path weights = folder / kWeights, index = folder / kWeightsIndex;
  if (fs::exists(weights)) return read_safetensors({weights.string(), map_file(weights)}).tensors;
  if (fs::exists(index)) return read_shards(folder, index);
  throw Error(ErrorCode::bad_model, "{}: has no weights: neither {} nor {}{}", folder.string(), kWeights,
              kWeightsIndex,
              fs::exists(folder / "pytorch_model.bin")
                  ? " (pytorch_model.bin is not read: save the model again as safetensors)"
                  : "");
}

}  // namespace

Checkpoint read_hugging_face_folder(const fs::path& folder) {
  const ModelTexts texts = ModelTexts::from_folder(folder);
  return assemble(folder.string(), texts, read_folder_tensors(folder));
}

Checkpoint read_hugging_face_weights(const fs::path& folder) {
  const ModelTexts texts = ModelTexts::from_folder(folder);
  return assemble_weights(folder.string(), texts, read_folder_tensors(folder));
}

Checkpoint read_safetensors_file(const NamedBytes& file) {
  SafetensorsContent content = read_safetensors(file);
  if (!content.metadata.contains(kConfig))
    throw Error(ErrorCode::bad_model,
                "{}: holds weights but no {} in its metadata; give the folder that it came from instead",
                file.name, kConfig);
  const ModelTexts texts = ModelTexts::from_metadata(content.metadata, file.name);
  return assemble(file.name, texts, std::move(content.tensors));
}

}  // namespace sotto
