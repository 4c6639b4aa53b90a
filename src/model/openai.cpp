#include <algorithm>

#include "model/byte_reader.h"
#include "model/openai_names.h"
#include "model/openai_vocabulary.h"
#include "model/pickle.h"
#include "model/reader.h"
#include "model/vocabulary.h"
#include "model/zip.h"

// OpenAI's .pt files: a zip archive that torch.save wrote, with the structure in <prefix>/data.pkl and the
// bytes of each tensor in <prefix>/data/<key>.
namespace sotto {
namespace {

constexpr int64_t kMostOfAnySize = 1 << 24;

class OpenAiFile {
 public:
  explicit OpenAiFile(const NamedBytes& file) : file_(file), entries_(read_zip(file)) {
    constexpr std::string_view kPickle = "data.pkl";
    const auto pickle = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
      return entry.first.ends_with(kPickle) &&
             entry.first.find('/') + 1 == entry.first.size() - kPickle.size();
    });
    if (pickle == entries_.end()) fail("the zip archive has no data.pkl, so it is no PyTorch checkpoint");
    prefix_ = std::string(pickle->first.substr(0, pickle->first.size() - kPickle.size()));
    if (const auto order = entries_.find(prefix_ + "byteorder"); order != entries_.end())
      if (as_text(order->second) != "little") fail("the tensors are not in little-endian order");
    document_ = read_pickle(pickle->second, file_.name + " (data.pkl)");
    const auto* root = document_.get<PickleDict>(document_.root);
    if (root == nullptr) fail("the checkpoint is no dict");
    root_ = *root;
  }

  ModelConfig read_sizes() const {
    const PickleDict& dims = member<PickleDict>(root_, "dims");
    ModelConfig config;
    config.mel_bins = size(dims, "n_mels");
    config.vocabulary = size(dims, "n_vocab");
    config.audio_positions = size(dims, "n_audio_ctx");
    config.width = size(dims, "n_audio_state");
    config.encoder_heads = size(dims, "n_audio_head");
    config.encoder_layers = size(dims, "n_audio_layer");
    config.text_positions = size(dims, "n_text_ctx");
    config.decoder_heads = size(dims, "n_text_head");
    config.decoder_layers = size(dims, "n_text_layer");
    if (size(dims, "n_text_state") != config.width) fail("the decoder is not as wide as the encoder");
    return config;
  }

  std::map<std::string, TensorView> read_tensors() const {
    const PickleDict& state = member<PickleDict>(root_, "model_state_dict");
    std::map<std::string, TensorView> tensors;
    for (const auto& [key, value] : state.items) {
      const auto* openai_name = document_.get<std::string_view>(key);
      const auto* tensor = document_.get<PickleTensor>(value);
      if (openai_name == nullptr || tensor == nullptr)
        fail("model_state_dict holds something that is no named tensor");
      const auto name = checkpoint_name_from_openai(*openai_name);
      if (!name) fail(fmt::format("tensor '{}' is no part of a Whisper network", printable(*openai_name)));
      if (!tensors.emplace(*name, view(*openai_name, *tensor)).second)
        fail(fmt::format("tensor '{}' occurs twice", *openai_name));
    }
    return tensors;
  }

  // Our own addition: a checkpoint may carry its tokenizer.json.
  std::optional<std::string_view> tokenizer_json() const {
    const PickleValue* value = document_.find(root_, "tokenizer.json");
    const auto* text = value == nullptr ? nullptr : std::get_if<std::string_view>(value);
    return text == nullptr ? std::nullopt : std::optional(*text);
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const {
    throw Error(ErrorCode::bad_model, "{}: {}", file_.name, reason);
  }

  template <class T>
  const T& member(const PickleDict& dict, std::string_view key) const {
    const PickleValue* value = document_.find(dict, key);
    const T* typed = value == nullptr ? nullptr : std::get_if<T>(value);
    if (typed == nullptr) fail(fmt::format("the checkpoint's '{}' is missing or of the wrong kind", key));
    return *typed;
  }

  int size(const PickleDict& dims, std::string_view key) const {
    const auto value = member<int64_t>(dims, key);
    if (value < 1 || value > kMostOfAnySize)
      fail(fmt::format("dims: {} is {}, which no model has", key, value));
    return static_cast<int>(value);
  }

  TensorView view(std::string_view name, const PickleTensor& tensor) const {
    const PickleStorage& storage = tensor.storage;
    const auto entry = entries_.find(prefix_ + "data/" + std::string(storage.key));
    if (entry == entries_.end())
      fail(fmt::format("tensor '{}': its data '{}' is missing", name, printable(storage.key)));
    require_contiguous(name, tensor);
    const uint64_t needed = named_tensor_bytes(file_.name, name, storage.dtype, tensor.shape);
    const uint64_t item = dtype_block_bytes(storage.dtype);
    const uint64_t stored = entry->second.size();
    if (static_cast<uint64_t>(storage.elements) != stored / item || stored % item != 0)
      fail(fmt::format("tensor '{}': its data should have {} values, but is {} bytes long", name,
                       storage.elements, stored));
    if (static_cast<uint64_t>(tensor.offset) > stored / item ||
        needed > stored - static_cast<uint64_t>(tensor.offset) * item)
      fail(fmt::format("tensor '{}' of shape {} at {} does not fit into its data of {} bytes", name,
                       shape_text(tensor.shape), tensor.offset, stored));
    TensorView view;
    view.dtype = storage.dtype;
    view.shape = tensor.shape;
    view.data = entry->second.subspan(static_cast<size_t>(tensor.offset) * item, needed);
    view.owner = file_.region;
    return view;
  }

  void require_contiguous(std::string_view name, const PickleTensor& tensor) const {
    int64_t expected = 1;
    for (size_t i = tensor.shape.size(); i-- > 0;) {
      if (tensor.shape[i] != 1 && tensor.strides[i] != expected)
        fail(fmt::format("tensor '{}' of shape {} has strides {}: only row-major tensors are supported", name,
                         shape_text(tensor.shape), shape_text(tensor.strides)));
      if (__builtin_mul_overflow(expected, tensor.shape[i], &expected))
        fail(fmt::format("tensor '{}' of shape {} is too large", name, shape_text(tensor.shape)));
    }
  }

  const NamedBytes& file_;
  ZipEntries entries_;
  std::string prefix_;  // with its slash
  PickleDocument document_;
  PickleDict root_;
};

}  // namespace

bool looks_like_openai(std::span<const std::byte> bytes) noexcept {
  constexpr std::string_view kZip = "PK\x03\x04";
  return as_text(bytes).substr(0, kZip.size()) == kZip;
}

Checkpoint read_openai(const NamedBytes& file, const std::filesystem::path& folder) {
  const OpenAiFile openai(file);
  Checkpoint checkpoint;
  checkpoint.source = file.name;
  checkpoint.format = "openai";
  checkpoint.config = openai.read_sizes();
  checkpoint.tensors = openai.read_tensors();
  const int vocabulary = checkpoint.config.vocabulary;
  add_implied_facts(checkpoint);
  check_weights(checkpoint);  // before memory is spent on as many tokens as the file claims
  if (const auto json = openai.tokenizer_json())
    checkpoint.vocabulary =
        vocabulary_from_tokenizer_json(*json, file.name + " (tokenizer.json)", vocabulary);
  else
    checkpoint.vocabulary = find_openai_vocabulary(folder, file.name, vocabulary);
  check_checkpoint(checkpoint);
  return checkpoint;
}

}  // namespace sotto
