// Any bytes as an audio file: open_audio either gives finite samples or throws an Error.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "audio/audio_source.h"
#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = memfd_create("audio", 0);
  if (file < 0) return 0;
  if (write(file, data, size) == static_cast<ssize_t>(size)) {
    try {
      const auto source = sotto::open_audio("/proc/self/fd/" + std::to_string(file));
      std::vector<float> piece(sotto::kSampleRate);
      for (int second = 0; second < 60 && source->read(piece) > 0; ++second) {
        for (const float sample : piece) {
          if (!std::isfinite(sample)) std::abort();
        }
      }
    } catch (const sotto::Error&) {
    }
  }
  close(file);
  return 0;
}
