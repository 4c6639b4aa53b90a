#include "model/byte_reader.h"

namespace sotto {

std::string printable(std::string_view text) {
  constexpr size_t kMost = 80;
  std::string out;
  for (const char c : text.substr(0, kMost)) {
    if (c >= ' ' && c <= '~')
      out += c;
    else
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  if (text.size() > kMost) out += "...";
  return out;
}

size_t named_tensor_bytes(std::string_view file, std::string_view tensor, DType dtype, const Shape& shape) {
  try {
    return tensor_bytes(dtype, shape);
  } catch (const Error& error) {
    throw Error(error.code(), "{}: tensor '{}': {}", file, printable(tensor), error.what());
  }
}

}  // namespace sotto
