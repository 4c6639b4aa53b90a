// Any bytes as a ggml file: refused with an Error, or a checkpoint whose tensors can be read.
#include "read_tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sotto::fuzz::read_any([&] { return sotto::read_ggml({"fuzz.bin", sotto::fuzz::region_of(data, size)}); });
  return 0;
}
