#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "support/temporary_folder.h"

namespace sotto::test {

// A safetensors file with this header and so many zero bytes of data behind it.
inline std::vector<std::byte> safetensors_bytes(std::string_view header, size_t data_bytes = 0) {
  std::vector<std::byte> bytes(sizeof(uint64_t));
  const uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, sizeof(length));
  const auto text = to_bytes(header);
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.resize(bytes.size() + data_bytes);
  return bytes;
}

}  // namespace sotto::test
