#include "whisper/time_warping.h"

#include <random>

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(WarpRows, FollowsTheCheapDiagonal) {
  // Three rows that are cheap in columns 0-1, 2-3 and 4-5.
  std::vector<float> costs(3 * 6, 1.0f);
  for (size_t row = 0; row < 3; ++row) costs[row * 6 + 2 * row] = costs[row * 6 + 2 * row + 1] = -1.0f;
  EXPECT_EQ(warp_rows(costs, 3, 6), (std::vector<size_t>{0, 2, 4}));
}

TEST(WarpRows, OneRowAndOneColumn) {
  EXPECT_EQ(warp_rows(std::vector<float>(5, 0.0f), 1, 5), (std::vector<size_t>{0}));
  EXPECT_EQ(warp_rows(std::vector<float>(3, 0.0f), 3, 1), (std::vector<size_t>{0, 0, 0}));
}

TEST(WarpRows, BeginsNeverGoBack) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    const size_t rows = 1 + random() % 20, columns = 1 + random() % 60;
    std::vector<float> costs(rows * columns);
    for (float& cost : costs) cost = static_cast<float>(random() % 1000) / 500.0f - 1.0f;
    const auto begins = warp_rows(costs, rows, columns);
    ASSERT_EQ(begins.size(), rows);
    EXPECT_EQ(begins.front(), 0u);
    for (size_t i = 1; i < rows; ++i) EXPECT_GE(begins[i], begins[i - 1]);
    EXPECT_LT(begins.back(), columns);
  }
}

TEST(MedianFilter, RemovesSpikesAndMirrorsTheEnds) {
  std::vector<float> values{1, 1, 9, 1, 1, 1, 5, 5, 5, 5};
  median_filter(values, 3);
  EXPECT_EQ(values, (std::vector<float>{1, 1, 1, 1, 1, 1, 5, 5, 5, 5}));
  std::vector<float> tiny{3, 1};
  median_filter(tiny, 7);
  EXPECT_EQ(tiny, (std::vector<float>{3, 1}));
}

}  // namespace
}  // namespace sotto
