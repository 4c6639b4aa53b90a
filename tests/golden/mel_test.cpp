// The log-mel front end against the reference's WhisperFeatureExtractor (tests/golden/data; see its json
// files).

#include "audio/mel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "audio/audio_source.h"
#include "support/npz.h"
#include "support/temporary_folder.h"

namespace sotto {
namespace {

constexpr float kTolerance = 1e-4F;

class GoldenMel : public testing::TestWithParam<std::string> {};

TEST_P(GoldenMel, EqualsTheReference) {
  const auto golden =
      test::read_npz(test::source_path("tests/golden/data/nano_" + GetParam() + ".npz")).at("mel");
  ASSERT_EQ(golden.shape.size(), 2U);
  const size_t bins = golden.shape[0];
  ASSERT_EQ(golden.shape[1], static_cast<size_t>(kWindowFrames));

  const auto source = open_audio(test::source_path("samples/" + GetParam() + ".flac").string());
  MelStream mel(*source, static_cast<int>(bins));
  std::vector<float> window(kWindowFrames * bins);
  mel.window(0, window);

  float largest = 0;
  for (size_t frame = 0; frame < kWindowFrames; ++frame) {
    for (size_t bin = 0; bin < bins; ++bin) {
      const float difference =
          std::abs(window[frame * bins + bin] - golden.floats[bin * kWindowFrames + frame]);
      largest = std::max(largest, difference);
    }
  }
  RecordProperty("largest_difference", std::to_string(largest));
  EXPECT_LE(largest, kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Samples, GoldenMel,
                         testing::Values("dialogue_pico_bdl", "pico_de", "pico_en_short"));

}  // namespace
}  // namespace sotto
