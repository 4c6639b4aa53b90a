#include "engine/speech_filter.h"

#include <algorithm>
#include <cmath>

namespace sotto {
namespace {

// A region that goes on for longer is passed on in pieces (without a gap), so that memory stays bounded.
constexpr double kLongestRegion = 30;

VadOptions bounded(VadOptions options) {
  options.max_speech_duration = std::min(options.max_speech_duration, kLongestRegion);
  return options;
}

}  // namespace

SpeechFilter::SpeechFilter(AudioSource& source, const VadOptions& options)
    : source_(source),
      regions_(bounded(options)),
      kept_(static_cast<size_t>((kLongestRegion + options.min_silence_duration + 2 * options.speech_pad + 5) *
                                kSampleRate)) {}

void SpeechFilter::take(const SpeechRegion& region) {
  auto begin = static_cast<size_t>(std::llround(region.start * kSampleRate));
  const auto end = std::min(static_cast<size_t>(std::llround(region.end * kSampleRate)), samples_read_);
  begin = std::max(begin, input_begin_);
  if (begin >= end) return;
  const auto first = input_.begin() + static_cast<ptrdiff_t>(begin - input_begin_);
  ready_.emplace_back(first, first + static_cast<ptrdiff_t>(end - begin));
  const bool goes_on = !passages_.empty() && passages_.back().original + passages_.back().length == begin;
  if (goes_on) {
    passages_.back().length += end - begin;
  } else {
    passages_.push_back({passed_, begin, end - begin});
  }
  passed_ += end - begin;
  input_.erase(input_.begin(), input_.begin() + static_cast<ptrdiff_t>(end - input_begin_));
  input_begin_ = end;
}

bool SpeechFilter::fetch_region() {
  constexpr size_t kBlock = kSampleRate;
  std::vector<float> block(kBlock), probabilities;
  std::vector<SpeechRegion> finished;
  while (ready_.empty() && !ended_) {
    const size_t count = source_.read(block);
    const auto samples = std::span<const float>(block).first(count);
    probabilities.clear();
    finished.clear();
    if (count == 0) {
      ended_ = true;
      detector_.finish(probabilities);
      regions_.push(probabilities, finished);
      regions_.finish(finished);
    } else {
      samples_read_ += count;
      input_.insert(input_.end(), samples.begin(), samples.end());
      detector_.push(samples, probabilities);
      regions_.push(probabilities, finished);
    }
    for (const SpeechRegion& region : finished) take(region);

    // What lies further back than the longest region with its borders is not needed any more.
    if (input_.size() > kept_) {
      const size_t surplus = input_.size() - kept_;
      input_.erase(input_.begin(), input_.begin() + static_cast<ptrdiff_t>(surplus));
      input_begin_ += surplus;
    }
  }
  return !ready_.empty();
}

size_t SpeechFilter::read(std::span<float> out) {
  size_t filled = 0;
  while (filled < out.size()) {
    if (ready_.empty() && !fetch_region()) break;
    const std::vector<float>& region = ready_.front();
    const size_t count = std::min(out.size() - filled, region.size() - ready_offset_);
    std::copy_n(region.begin() + static_cast<ptrdiff_t>(ready_offset_), count,
                out.begin() + static_cast<ptrdiff_t>(filled));
    filled += count;
    ready_offset_ += count;
    if (ready_offset_ == region.size()) {
      ready_.pop_front();
      ready_offset_ = 0;
    }
  }
  return filled;
}

std::vector<float> SpeechFilter::next_chunk(size_t max_samples) {
  std::vector<float> chunk;
  while (!ready_.empty() || fetch_region()) {
    std::vector<float>& region = ready_.front();
    const auto rest = std::span<const float>(region).subspan(ready_offset_);
    if (chunk.size() + rest.size() > max_samples && !chunk.empty()) break;
    const auto part = rest.first(std::min(rest.size(), max_samples));
    chunk.insert(chunk.end(), part.begin(), part.end());
    ready_offset_ += part.size();
    if (ready_offset_ < region.size()) break;
    ready_.pop_front();
    ready_offset_ = 0;
  }
  return chunk;
}

const SpeechFilter::Passage& SpeechFilter::passage_at(double seconds, bool is_end) const {
  const double sample = seconds * kSampleRate;
  const auto after =
      std::upper_bound(passages_.begin(), passages_.end(), sample, [&](double value, const Passage& p) {
        const auto begin = static_cast<double>(p.begin);
        return is_end ? value <= begin : value < begin;
      });
  return after == passages_.begin() ? passages_.front() : *(after - 1);
}

double SpeechFilter::original_time(double seconds, bool is_end) const {
  if (passages_.empty()) return seconds;
  const Passage& passage = passage_at(seconds, is_end);
  const double inside = seconds * kSampleRate - static_cast<double>(passage.begin);
  // A time past the last sample of a region (the model may place one there) stays at its end.
  const double kept = std::clamp(inside, 0.0, static_cast<double>(passage.length));
  return (static_cast<double>(passage.original) + kept) / kSampleRate;
}

double SpeechFilter::original_start(double seconds) const {
  return original_time(seconds, false);
}
double SpeechFilter::original_end(double seconds) const {
  return original_time(seconds, true);
}

}  // namespace sotto
