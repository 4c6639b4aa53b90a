#include "capi/segment_views.h"

namespace sotto::capi {

SegmentViews::SegmentViews(std::span<const Segment> segments) {
  words_.reserve(segments.size());
  views_.reserve(segments.size());
  for (const Segment& segment : segments) {
    std::vector<sotto_word>& words = words_.emplace_back();
    for (const Word& word : segment.words)
      words.push_back({word.start, word.end, word.text.c_str(), word.probability});
    sotto_segment view{};
    view.id = segment.id;
    view.start = segment.start;
    view.end = segment.end;
    view.text = segment.text.c_str();
    view.language = segment.language.c_str();
    view.tokens = segment.tokens.data();
    view.token_count = segment.tokens.size();
    view.words = words.data();
    view.word_count = words.size();
    view.temperature = segment.temperature;
    view.average_log_probability = segment.average_log_probability;
    view.compression_ratio = segment.compression_ratio;
    view.no_speech_probability = segment.no_speech_probability;
    view.language_probability = segment.trust.language_probability;
    view.attempts = segment.trust.attempts;
    view.uncovered_speech = segment.trust.uncovered_speech;
    view.suspect = segment.trust.suspect.c_str();
    views_.push_back(view);
  }
}

}  // namespace sotto::capi
