// Any bytes as a pickle: refused with an Error, or values that refer to one another only.
#include <cstdlib>

#include "base/error.h"
#include "model/pickle.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto document = sotto::read_pickle(std::as_bytes(std::span(data, size)), "fuzz.pkl");
    require(document.root < document.values.size());
    for (const auto& value : document.values)
      if (const auto* dict = std::get_if<sotto::PickleDict>(&value))
        for (const auto& [key, item] : dict->items)
          require(key < document.values.size() && item < document.values.size());
  } catch (const sotto::Error&) {
  }
  return 0;
}
