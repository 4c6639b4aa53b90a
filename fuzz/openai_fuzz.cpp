// Any bytes as an OpenAI .pt file (zip and pickle): refused with an Error, or a checkpoint whose tensors can
// be read.
#include "read_tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sotto::fuzz::read_any([&] {
    return sotto::read_openai({"fuzz.pt", sotto::fuzz::region_of(data, size)}, "/nonexistent");
  });
  return 0;
}
