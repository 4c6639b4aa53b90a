#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "model/reader.h"

namespace sotto::fuzz {

inline std::shared_ptr<const Region> region_of(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  return memory_region(std::vector<std::byte>(bytes.begin(), bytes.end()));
}

// Reads a model of any format and every value of its tensors. Nothing but an Error may come out.
template <class Read>
void read_any(Read read) {
  try {
    const Checkpoint checkpoint = read();
    for (const auto& [name, tensor] : checkpoint.tensors) read_all(tensor);
  } catch (const Error&) {
  }
}

}  // namespace sotto::fuzz
