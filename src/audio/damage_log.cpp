#include "audio/damage_log.h"

#include <algorithm>

namespace sotto {
namespace {

constexpr double kNeighbourSeconds = 0.05;
constexpr size_t kMostEntries = 1000;

}  // namespace

void DamageLog::add(double start, double end, std::string_view reason) {
  if (!entries_.empty()) {
    AudioDamage& last = entries_.back();
    const bool same = last.reason == reason && start <= last.end + kNeighbourSeconds;
    if (same || entries_.size() == kMostEntries) {
      last.end = std::max(last.end, end);
      return;
    }
  }
  entries_.push_back({start, end, std::string(reason)});
}

}  // namespace sotto
