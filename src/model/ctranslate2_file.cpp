#include "model/ctranslate2_file.h"

#include <array>

#include "model/byte_reader.h"

namespace sotto {
namespace {

// Whisper came to CTranslate2 with this version; earlier ones never held such a model.
constexpr uint32_t kBinaryVersion = 6;
constexpr std::array<size_t, 6> kTypeBytes = {4, 1, 2, 4, 2, 2};  // in the order of Ctranslate2Type

// Two bytes of length, which counts the zero byte at the end.
std::string_view read_string(ByteReader& in, std::string_view what) {
  const auto length = in.read<uint16_t>(what);
  const std::string_view text = in.take_text(length, what);
  if (text.empty() || text.back() != '\0') in.fail("{} does not end with a zero byte", what);
  return text.substr(0, text.size() - 1);
}

Ctranslate2Variable read_variable(ByteReader& in, std::string_view name) {
  constexpr uint8_t kMostDimensions = 8;
  const auto rank = in.read<uint8_t>("a variable's rank");
  if (rank > kMostDimensions) in.fail("variable '{}' has {} dimensions", printable(name), rank);
  Ctranslate2Variable variable{};
  uint64_t elements = 1;
  bool too_large = false;
  for (uint8_t i = 0; i < rank; ++i) {
    const auto size = in.read<uint32_t>("a variable's dimension");
    variable.shape.push_back(size);
    too_large |= __builtin_mul_overflow(elements, uint64_t{size}, &elements);
  }
  const auto type = in.read<uint8_t>("a variable's type");
  if (type >= kTypeBytes.size()) in.fail("variable '{}' has the unknown type {}", printable(name), type);
  variable.type = static_cast<Ctranslate2Type>(type);
  const auto bytes = in.read<uint32_t>("a variable's length");
  if (too_large || elements > bytes || elements * kTypeBytes[type] != bytes)
    in.fail("variable '{}' of shape {} cannot have {} bytes", printable(name), shape_text(variable.shape),
            bytes);
  variable.data = in.take(bytes, "a variable");
  return variable;
}

void read_aliases(ByteReader& in, Ctranslate2File& model) {
  const auto count = in.read<uint32_t>("the number of aliases");
  for (uint32_t i = 0; i < count; ++i) {
    const std::string alias(read_string(in, "an alias"));
    const std::string name(read_string(in, "the name that an alias stands for"));
    if (!model.variables.contains(name))
      in.fail("'{}' stands for '{}', which is not in the file", printable(alias), printable(name));
    if (model.variables.contains(alias) || !model.aliases.emplace(alias, name).second)
      in.fail("variable '{}' occurs twice", printable(alias));
    // The scales of a quantised variable go with it.
    if (model.variables.contains(name + "_scale")) model.aliases.emplace(alias + "_scale", name + "_scale");
  }
}

}  // namespace

const Ctranslate2Variable* Ctranslate2File::find(const std::string& name) const {
  const auto alias = aliases.find(name);
  const auto found = variables.find(alias == aliases.end() ? name : alias->second);
  return found == variables.end() ? nullptr : &found->second;
}

Ctranslate2File parse_ctranslate2_file(const NamedBytes& file) {
  ByteReader in(file.region->bytes(), file.name);
  if (const auto version = in.read<uint32_t>("the binary version"); version != kBinaryVersion)
    in.fail(
        "CTranslate2's binary version should be {}, but is {}: this is no model.bin, or one that must be "
        "converted "
        "again",
        kBinaryVersion, version);
  Ctranslate2File model;
  model.spec = read_string(in, "the name of the model's kind");
  if (model.spec != "WhisperSpec") in.fail("the model is a {}, not a WhisperSpec", printable(model.spec));
  model.revision = in.read<uint32_t>("the revision");
  const auto count = in.read<uint32_t>("the number of variables");
  for (uint32_t i = 0; i < count; ++i) {
    const std::string_view name = read_string(in, "a variable's name");
    if (!model.variables.emplace(name, read_variable(in, name)).second)
      in.fail("variable '{}' occurs twice", printable(name));
  }
  read_aliases(in, model);
  if (in.remaining() > 0) in.fail("{} bytes follow the end of the model", in.remaining());
  return model;
}

}  // namespace sotto
