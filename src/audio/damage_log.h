#pragma once

#include <string_view>
#include <vector>

#include "audio/audio_source.h"

namespace sotto {

// The damaged parts of one input, in the order of their times. Neighbours with the same reason become one
// entry, and the number of entries is limited, so that a wholly broken file of any length needs little
// memory.
class DamageLog {
 public:
  void add(double start, double end, std::string_view reason);
  const std::vector<AudioDamage>& entries() const noexcept { return entries_; }

 private:
  std::vector<AudioDamage> entries_;
};

// Whether a number can be the sample of a sound. Beyond this size the power spectrum would leave float32's
// range.
inline bool is_sound(double sample) noexcept {
  return sample > -1e9 && sample < 1e9;
}

inline constexpr std::string_view kNotSoundReason =
    "holds values that are not sound (not a number, or out of range)";

}  // namespace sotto
