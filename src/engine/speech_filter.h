#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "audio/audio_source.h"
#include "audio/vad.h"

namespace sotto {

// Passes on only the parts of an audio stream that hold speech, and remembers where they came from, so that
// times can be told on the time line of the input. Memory is bounded by the longest region that is cut.
class SpeechFilter final : public AudioSource {
 public:
  SpeechFilter(AudioSource& source, const VadOptions& options);

  size_t read(std::span<float> out) override;
  std::optional<double> duration() const override { return source_.duration(); }
  std::vector<AudioDamage> damage() const override { return source_.damage(); }

  // Whole regions that follow each other, at most max_samples together (one that is longer alone is cut);
  // empty at the end. Not to be mixed with read().
  std::vector<float> next_chunk(size_t max_samples);

  // Seconds of the passed-on audio to seconds of the input. At a border between two regions a start belongs
  // to the later one, an end to the earlier one.
  double original_start(double seconds) const;
  double original_end(double seconds) const;

  double seconds_read() const { return static_cast<double>(samples_read_) / kSampleRate; }  // of the input
  bool at_end() const noexcept { return ended_; }

 private:
  struct Passage {
    size_t begin;     // in the passed-on audio, samples
    size_t original;  // in the input, samples
    size_t length;
  };

  bool fetch_region();  // the next region's samples into ready_
  void take(const SpeechRegion& region);
  const Passage& passage_at(double seconds, bool is_end) const;
  double original_time(double seconds, bool is_end) const;

  AudioSource& source_;
  VoiceDetector detector_;
  SpeechRegions regions_;
  const size_t kept_;  // samples of the input that a region still to come may need
  std::deque<SpeechRegion> found_;
  std::deque<float> input_;  // samples of the input from input_begin_ on
  size_t input_begin_ = 0, samples_read_ = 0;
  std::deque<std::vector<float>> ready_;  // regions not yet passed on
  size_t ready_offset_ = 0;               // into the first of them
  std::vector<Passage> passages_;
  size_t passed_ = 0;  // samples put into passages_
  bool ended_ = false;
};

}  // namespace sotto
