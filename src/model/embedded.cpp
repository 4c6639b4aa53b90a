#include <cstddef>

#include "model/reader.h"

// The file models/nano/nano.safetensors, put into the program by embedded_nano.S.
extern "C" const std::byte sotto_nano_begin[];
extern "C" const std::byte sotto_nano_end[];

namespace sotto {

Checkpoint embedded_checkpoint() {
  return read_safetensors_file({"built-in nano", static_region({sotto_nano_begin, sotto_nano_end})});
}

}  // namespace sotto
