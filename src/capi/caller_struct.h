#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/error.h"

namespace sotto::capi {

// A struct that the caller filled in, whose first member is its size. An older program's is shorter: what it
// does not have is zero. `least` is what every version had.
template <class Struct>
Struct caller_struct(const Struct& given, size_t least, const char* name) {
  if (given.size < least) throw Error(ErrorCode::usage, "{0}.size must be sizeof({0})", name);
  Struct whole{};
  std::memcpy(&whole, &given, std::min(given.size, sizeof whole));
  return whole;
}

}  // namespace sotto::capi
