#pragma once

#include <cstddef>

// What a test tells the emulated drivers, and what they tell it: each exports these two functions. The same
// plan can be given to another process by the variables SOTTO_EMULATED_FAIL_ALLOCATION, _FAIL_LAUNCH,
// _FAIL_CALL and _LOST_AT.
namespace sotto::test {

struct EmulatedPlan {  // counted from 1, since the plan was set; 0: never
  long fail_allocation = 0;
  long fail_launch = 0;
  long fail_call = 0;  // of any kind
  long lost_at = 0;    // from this call on, the device is lost
};

struct EmulatedCounts {  // since the plan was set, but for what is alive
  long calls = 0, allocations = 0, launches = 0, graph_launches = 0;
  long violations =
      0;  // of the interface's rules: freed memory, foreign pointers, copies beyond an allocation ...
  char first_violation[160] = {};
  long live_objects = 0;  // of all kinds, memory included
  size_t live_bytes = 0;  // of device memory
  long left_behind = 0;   // objects that lived when their context was given back, unless the device was lost
};

using SetEmulatedPlan = void (*)(const EmulatedPlan&);
using ReadEmulatedCounts = void (*)(EmulatedCounts&);
inline constexpr const char* kSetEmulatedPlan = "sotto_emulated_plan";
inline constexpr const char* kReadEmulatedCounts = "sotto_emulated_counts";

}  // namespace sotto::test
