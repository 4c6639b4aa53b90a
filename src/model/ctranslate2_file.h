#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "model/reader.h"
#include "tensor/tensor_view.h"

namespace sotto {

// The types that CTranslate2 numbers 0 to 5.
enum class Ctranslate2Type : uint8_t { f32, i8, i16, i32, f16, bf16 };

struct Ctranslate2Variable {
  Ctranslate2Type type;
  Shape shape;  // empty for a scalar
  std::span<const std::byte> data;
};

// A model.bin: what kind of model it holds, and its variables by name. Equal variables are stored once and
// have further names (aliases).
struct Ctranslate2File {
  std::string_view spec;  // "WhisperSpec"
  uint32_t revision = 0;
  std::map<std::string_view, Ctranslate2Variable> variables;
  std::map<std::string, std::string> aliases;  // further name -> name of a variable

  // The variable of this name or alias, or null.
  const Ctranslate2Variable* find(const std::string& name) const;
};

Ctranslate2File parse_ctranslate2_file(const NamedBytes& file);

}  // namespace sotto
