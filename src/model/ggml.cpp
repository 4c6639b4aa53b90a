#include <algorithm>
#include <optional>

#include "model/byte_reader.h"
#include "model/official_models.h"
#include "model/openai_names.h"
#include "model/reader.h"

// whisper.cpp's .bin files: magic, eleven sizes, mel filters, a list of tokens, and tensors one after the
// other, each with its own header. All numbers are little-endian; nothing is aligned.
namespace sotto {
namespace {

constexpr uint32_t kMagic = 0x67676d6c;  // "ggml" read as a number
constexpr int kMostOfAnySize =
    1 << 24;  // far above any real size, far below where a product of two overflows
constexpr int kQuantisationVersion = 2;    // since May 2023, when scales became float16
constexpr int kQuantisationFactor = 1000;  // the file's type field is type + 1000 * quantisation version
constexpr const char* kEndToken = "<|endoftext|>";

struct GgmlType {
  int32_t id;
  DType dtype;
};

constexpr GgmlType kTypes[] = {{0, DType::f32},  {1, DType::f16},  {2, DType::q4_0}, {3, DType::q4_1},
                               {6, DType::q5_0}, {7, DType::q5_1}, {8, DType::q8_0}};

struct Header {
  ModelConfig config;
  int quantisation_version = 0;
};

int read_size(ByteReader& in, std::string_view what) {
  const auto value = in.read<int32_t>(what);
  if (value < 1 || value > kMostOfAnySize) in.fail("{} is {}, which no model has", what, value);
  return value;
}

Header read_header(ByteReader& in) {
  if (in.read<uint32_t>("the magic number") != kMagic) in.fail("this is no ggml model file of whisper.cpp");
  Header header;
  ModelConfig& config = header.config;
  config.vocabulary = read_size(in, "the vocabulary size");
  config.audio_positions = read_size(in, "the number of audio positions");
  config.width = read_size(in, "the encoder's width");
  config.encoder_heads = read_size(in, "the number of encoder heads");
  config.encoder_layers = read_size(in, "the number of encoder layers");
  config.text_positions = read_size(in, "the number of text positions");
  if (const int width = read_size(in, "the decoder's width"); width != config.width)
    in.fail("the decoder's width is {}, but the encoder's is {}", width, config.width);
  config.decoder_heads = read_size(in, "the number of decoder heads");
  config.decoder_layers = read_size(in, "the number of decoder layers");
  config.mel_bins = read_size(in, "the number of mel bins");
  header.quantisation_version = in.read<int32_t>("the tensor type") / kQuantisationFactor;

  // Every row of the embedding is in the file, and no type needs less than half a byte for a value.
  if (static_cast<uint64_t>(config.vocabulary) * static_cast<uint64_t>(config.width) / 2 > in.remaining())
    in.fail("{} bytes cannot hold an embedding of {} tokens of width {}", in.remaining(), config.vocabulary,
            config.width);
  return header;
}

// The filters follow from their number: we compute them, so that every format gives the same front end.
void skip_mel_filters(ByteReader& in) {
  const auto mels = static_cast<uint64_t>(read_size(in, "the number of mel filters"));
  const auto bins = static_cast<uint64_t>(read_size(in, "the size of a mel filter"));
  in.take(mels * bins * sizeof(float), "the mel filters");
}

// Files list the ordinary tokens, some list <|endoftext|> too, and ours list all. What is not listed are
// Whisper's special tokens in their standard order.
Vocabulary read_vocabulary(ByteReader& in, int size) {
  const auto listed = in.read<int32_t>("the number of listed tokens");
  if (listed < 0 || listed > size) in.fail("{} tokens are listed, but the vocabulary has {}", listed, size);
  Vocabulary vocabulary;
  std::optional<size_t> end_token;
  for (int32_t id = 0; id < listed; ++id) {
    const auto length = in.read<uint32_t>("a token's length");
    vocabulary.tokens.emplace_back(in.take_text(length, "a token"));
    if (!end_token && vocabulary.tokens.back() == kEndToken) end_token = static_cast<size_t>(id);
  }
  vocabulary.tokens.resize(static_cast<size_t>(size));
  if (!end_token && listed < size) {
    end_token = static_cast<size_t>(listed);
    vocabulary.tokens[*end_token] = kEndToken;
  }
  if (!end_token) in.fail("no token is {}", kEndToken);
  vocabulary.special.assign(vocabulary.tokens.size(), false);
  std::fill(vocabulary.special.begin() + static_cast<std::ptrdiff_t>(*end_token), vocabulary.special.end(),
            true);
  name_missing_special_tokens(vocabulary);
  return vocabulary;
}

DType read_tensor_type(ByteReader& in, int quantisation_version) {
  const auto id = in.read<int32_t>("a tensor's type");
  const auto type =
      std::find_if(std::begin(kTypes), std::end(kTypes), [&](const GgmlType& t) { return t.id == id; });
  if (type == std::end(kTypes))
    in.fail("tensor type {} is not one of f32, f16, q4_0, q4_1, q5_0, q5_1, q8_0", id);
  if (dtype_block_values(type->dtype) > 1 && quantisation_version != kQuantisationVersion)
    in.fail("{} of quantisation version {} is not supported, only version {}: quantise the model again",
            dtype_name(type->dtype), quantisation_version, kQuantisationVersion);
  return type->dtype;
}

struct NamedTensor {
  std::string name;
  TensorView view;
};

NamedTensor read_tensor(ByteReader& in, const NamedBytes& file, int quantisation_version) {
  const auto rank = in.read<int32_t>("a tensor's rank");
  if (rank < 1 || rank > 4) in.fail("a tensor has {} dimensions", rank);
  const auto name_length = in.read<uint32_t>("the length of a tensor's name");
  NamedTensor tensor;
  tensor.view.dtype = read_tensor_type(in, quantisation_version);
  for (int32_t i = 0; i < rank; ++i) tensor.view.shape.push_back(read_size(in, "a tensor's dimension"));
  std::reverse(tensor.view.shape.begin(), tensor.view.shape.end());  // ggml counts from the innermost
  const std::string_view ggml_name = in.take_text(name_length, "a tensor's name");
  const auto name = checkpoint_name_from_openai(ggml_name);
  if (!name) in.fail("tensor '{}' is no part of a Whisper network", printable(ggml_name));
  tensor.name = *name;
  tensor.view.owner = file.region;
  tensor.view.data =
      in.take(named_tensor_bytes(file.name, ggml_name, tensor.view.dtype, tensor.view.shape), ggml_name);
  // The converter makes columns of the convolutions' biases.
  const bool is_conv_bias = tensor.name == "encoder.conv1.bias" || tensor.name == "encoder.conv2.bias";
  if (is_conv_bias && tensor.view.shape.size() == 2 && tensor.view.shape.back() == 1)
    tensor.view.shape.pop_back();
  return tensor;
}

}  // namespace

bool looks_like_ggml(std::span<const std::byte> bytes) noexcept {
  constexpr std::string_view kFirstBytes = "lmgg";  // kMagic in little-endian order
  return as_text(bytes).substr(0, kFirstBytes.size()) == kFirstBytes;
}

Checkpoint read_ggml(const NamedBytes& file) {
  ByteReader in(file.region->bytes(), file.name);
  const Header header = read_header(in);
  skip_mel_filters(in);

  Checkpoint checkpoint;
  checkpoint.source = file.name;
  checkpoint.format = "ggml";
  checkpoint.config = header.config;
  checkpoint.vocabulary = read_vocabulary(in, header.config.vocabulary);
  while (in.remaining() > 0) {
    NamedTensor tensor = read_tensor(in, file, header.quantisation_version);
    if (!checkpoint.tensors.emplace(tensor.name, std::move(tensor.view)).second)
      in.fail("tensor '{}' occurs twice", tensor.name);
  }
  add_implied_facts(checkpoint);
  check_checkpoint(checkpoint);
  return checkpoint;
}

}  // namespace sotto
