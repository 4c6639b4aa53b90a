#include "engine/trust.h"

namespace sotto {
namespace {

constexpr double kMissedSpeech = 3;  // seconds of speech without text that are worth a mark

bool same_as_last_two(const std::string& text, std::span<const Segment> before) {
  const size_t count = before.size();
  return count >= 2 && before[count - 1].text == text && before[count - 2].text == text;
}

}  // namespace

bool repeats_itself(std::span<const Segment> segments) {
  return !segments.empty() && same_as_last_two(segments.back().text, segments.first(segments.size() - 1));
}

std::string suspicion(const Segment& segment, double window_ratio, const Options& options,
                      std::span<const Segment> before) {
  if (window_ratio > options.compression_ratio_threshold) return "the text repeats itself";
  if (same_as_last_two(segment.text, before)) return "the same text for the third time in a row";
  if (segment.no_speech_probability > options.no_speech_threshold) return "there may be no speech";
  if (segment.average_log_probability < options.log_prob_threshold) return "the model is unsure of the text";
  if (segment.trust.uncovered_speech > kMissedSpeech) return "speech before it has no text";
  return {};
}

}  // namespace sotto
