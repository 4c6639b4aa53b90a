#include "engine/trust.h"

#include <gtest/gtest.h>

namespace sotto::test {
namespace {

Segment saying(const char* text) {
  Segment segment;
  segment.text = text;
  segment.average_log_probability = -0.2;
  return segment;
}

TEST(Trust, AnOrdinarySegmentIsNotSuspect) {
  EXPECT_EQ(suspicion(saying(" Hello."), 1.1, {}, {}), "");
}

TEST(Trust, ReasonsForDoubt) {
  EXPECT_EQ(suspicion(saying(" la la la"), 3.0, {}, {}), "the text repeats itself");
  Segment unsure = saying(" Hm.");
  unsure.average_log_probability = -1.5;
  EXPECT_EQ(suspicion(unsure, 1, {}, {}), "the model is unsure of the text");
  Segment silent = saying(" Thank you.");
  silent.no_speech_probability = 0.9;
  EXPECT_EQ(suspicion(silent, 1, {}, {}), "there may be no speech");
  Segment late = saying(" Hello.");
  late.trust.uncovered_speech = 5;
  EXPECT_EQ(suspicion(late, 1, {}, {}), "speech before it has no text");
}

TEST(Trust, TheThirdTimeIsALoop) {
  const std::vector<Segment> twice{saying(" Thank you."), saying(" Thank you.")};
  EXPECT_EQ(suspicion(saying(" Thank you."), 1, {}, twice), "the same text for the third time in a row");
  EXPECT_EQ(suspicion(saying(" Hello."), 1, {}, twice), "");
  EXPECT_FALSE(repeats_itself(twice));
  EXPECT_TRUE(repeats_itself(std::vector<Segment>(3, saying(" Thank you."))));
  EXPECT_FALSE(repeats_itself({}));
}

}  // namespace
}  // namespace sotto::test
