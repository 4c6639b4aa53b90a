// Any bytes as a one-file model: refused with an Error, or a checkpoint whose tensors can be read.
#include "model/safetensors.h"
#include "read_tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const sotto::NamedBytes file{"fuzz.safetensors", sotto::fuzz::region_of(data, size)};
  sotto::fuzz::read_any([&] { return sotto::read_safetensors_file(file); });
  sotto::looks_like_safetensors(file.region->bytes());
  return 0;
}
