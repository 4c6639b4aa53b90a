#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace sotto {

// The cheapest monotone path through a rows x columns matrix of costs, from the first to the last element, as
// the column where each row begins (dynamic time warping; ties as the reference breaks them).
std::vector<size_t> warp_rows(std::span<const float> costs, size_t rows, size_t columns);

// Each value becomes the median of the `width` (odd) values around it; the ends are mirrored. Shorter inputs
// than half the width stay as they are.
void median_filter(std::span<float> values, size_t width);

}  // namespace sotto
