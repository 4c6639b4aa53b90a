#pragma once

#include <map>
#include <string>

#include "model/reader.h"
#include "tensor/tensor_view.h"

namespace sotto {

// What a safetensors file holds, as it stands there.
struct SafetensorsContent {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
};

// Checks the whole header; the tensors stay where they are. Throws Error(bad_model).
SafetensorsContent read_safetensors(const NamedBytes& file);

std::string_view safetensors_type_name(DType type);  // f32, f16 and bf16 only

}  // namespace sotto
