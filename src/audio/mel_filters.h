#pragma once

#include <span>
#include <vector>

namespace sotto {

// The Slaney mel filter bank: triangles of equal area over a power spectrum of `bins` points from 0 to
// highest_hz. Each filter covers few points, so only those are stored.
class MelFilters {
 public:
  MelFilters(int filters, int bins, double highest_hz);

  // out[i] = the energy that filter i takes from the power spectrum.
  void apply(std::span<const float> power, std::span<float> out) const;

 private:
  struct Filter {
    size_t first_bin;
    std::vector<float> weights;
  };
  std::vector<Filter> filters_;
};

}  // namespace sotto
