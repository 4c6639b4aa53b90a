#include "audio/audio_source.h"

#include <algorithm>

#include "audio/damage_log.h"

namespace sotto {
namespace {

class SampleSource final : public AudioSource {
 public:
  explicit SampleSource(std::vector<float> samples) : samples_(std::move(samples)) {
    for (size_t i = 0; i < samples_.size(); ++i) {
      if (is_sound(samples_[i])) continue;
      samples_[i] = 0;
      damage_.add(seconds(i), seconds(i + 1), kNotSoundReason);
    }
  }

  size_t read(std::span<float> out) override {
    const size_t count = std::min(out.size(), samples_.size() - next_);
    std::copy_n(samples_.begin() + static_cast<std::ptrdiff_t>(next_), count, out.begin());
    next_ += count;
    return count;
  }

  std::optional<double> duration() const override { return seconds(samples_.size()); }
  std::vector<AudioDamage> damage() const override { return damage_.entries(); }

 private:
  static double seconds(size_t samples) { return static_cast<double>(samples) / kSampleRate; }

  std::vector<float> samples_;
  size_t next_ = 0;
  DamageLog damage_;
};

}  // namespace

std::unique_ptr<AudioSource> audio_from_samples(std::vector<float> samples) {
  return std::make_unique<SampleSource>(std::move(samples));
}

}  // namespace sotto
