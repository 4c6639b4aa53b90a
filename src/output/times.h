#pragma once

#include <cmath>
#include <cstdint>

namespace sotto {

// The time that every format writes: whole milliseconds, never before the start of the input. What is not a
// number counts as the start; what no recording reaches is cut off.
inline int64_t to_milliseconds(double seconds) noexcept {
  constexpr double kLongest = 3.6e9;  // a million hours
  if (!(seconds > 0)) return 0;
  return std::llround(std::fmin(seconds, kLongest) * 1000);
}

// For the formats that know nothing finer.
inline int64_t to_centiseconds(int64_t milliseconds) noexcept {
  return (milliseconds + 5) / 10;
}

struct ClockTime {
  int64_t hours, minutes, seconds, milliseconds;
};

inline ClockTime clock_time(int64_t milliseconds) noexcept {
  return {milliseconds / 3600000, milliseconds / 60000 % 60, milliseconds / 1000 % 60, milliseconds % 1000};
}

}  // namespace sotto
