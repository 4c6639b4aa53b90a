#include "engine/transcriber.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>

#include "audio/mel.h"
#include "base/error.h"
#include "engine/decoding_plan.h"
#include "engine/resume_log.h"
#include "engine/speech_filter.h"
#include "engine/trust.h"
#include "whisper/window_segments.h"
#include "whisper/word_timing.h"

namespace sotto {
namespace {

constexpr size_t kWindowSamples = static_cast<size_t>(kWindowFrames) * kMelHop;

VadOptions vad_options(const Options& options, bool batched) {
  VadOptions vad;
  vad.threshold = options.vad_threshold;
  vad.min_speech_duration = options.vad_min_speech_duration_ms / 1e3;
  vad.min_silence_duration = options.vad_min_silence_duration_ms / 1e3;
  vad.speech_pad = options.vad_speech_pad_ms / 1e3;
  if (options.vad_max_speech_duration_s > 0) vad.max_speech_duration = options.vad_max_speech_duration_s;
  // A region that is decoded on its own has to fit into a window.
  if (batched)
    vad.max_speech_duration = std::min(vad.max_speech_duration, kWindowFrames / double{kMelFramesPerSecond});
  return vad;
}

// What the checkpoint of a run must agree on with the run that continues it.
std::string fingerprint_of(const LoadedModel& model, const Options& options, const std::string& identity) {
  std::string text =
      identity + "\n" + model.hash() + "\n" + std::string(compute_type_name(model.placement().compute_type));
  for (const OptionSpec& spec : option_specs()) {
    constexpr std::array kWithoutEffect{"model",        "device",  "fallback",   "probe-timeout",
                                        "compute-type", "threads", "batch-size", "keep-alive",
                                        "checkpoint",   "resume"};
    if (std::find(kWithoutEffect.begin(), kWithoutEffect.end(), spec.name) == kWithoutEffect.end())
      text += fmt::format("\n{}={}", spec.name, get_option(options, spec.name));
  }
  return text;
}

double last_word_end(const std::vector<std::vector<TimedWord>>& words) {
  for (size_t i = words.size(); i-- > 0;)
    if (!words[i].empty()) return words[i].back().end;
  return 0;
}

// One transcription on its way.
class Transcription {
 public:
  Transcription(LoadedModel& model, AudioSource& audio, const Options& options,
                const TranscribeCallbacks& callbacks, const std::string& identity)
      : model_(model),
        tokenizer_(model.tokenizer()),
        options_(options),
        callbacks_(callbacks),
        plan_(model, options),
        mel_bins_(model.config().mel_bins),
        audio_(audio),
        total_(audio.duration().value_or(-1)),
        context_(plan_.opening_context()) {
    if (options.vad) filter_.emplace(audio, vad_options(options, options.mode == "batched"));
    constexpr double kShortClip = 60;  // seconds; goes before the windows of longer files
    priority_ = total_ >= 0 && total_ <= kShortClip ? 0 : 1;
    transcript_.task = options.task;
    transcript_.model = model.name();
    transcript_.model_hash = model.hash();
    for (const OptionSpec& spec : option_specs())
      transcript_.options.emplace_back(spec.name, get_option(options, spec.name));
    if (!plan_.language_is_open()) {
      language_.code = tokenizer_.multilingual() ? std::string(*language_code(options.language)) : "en";
      language_.probability = 1;
    }
    if (!options.checkpoint.empty()) {
      log_.emplace(options.checkpoint, fingerprint_of(model, options, identity), options.resume);
      if (log_->found()) restore(*log_->found());
    }
  }

  ~Transcription() { *cancelled_ = true; }  // windows that are still on their way are not needed any more
  Transcription(const Transcription&) = delete;
  Transcription& operator=(const Transcription&) = delete;

  Transcript run() {
    report_progress(0);
    if (options_.mode == "batched") {
      run_batched();
    } else {
      run_sequential();
    }
    transcript_.complete = !stopped_;
    const Placement& placement = model_.placement();  // where the work ended, and why there
    transcript_.device = placement.description;
    transcript_.device_record = placement.record;
    transcript_.compute_type = compute_type_name(placement.compute_type);
    transcript_.language = language_.code;
    transcript_.language_probability = language_.probability;
    for (AudioDamage& damage : audio_.damage())
      transcript_.damage.push_back({damage.start, damage.end, std::move(damage.reason)});
    if (log_ && !stopped_) log_->remove();
    return std::move(transcript_);
  }

 private:
  // --- the two ways through a file ---
  void run_sequential() {
    MelStream mel(filter_ ? static_cast<AudioSource&>(*filter_) : audio_, mel_bins_);
    size_t frame = position_;
    while (!stop_requested() && mel.reaches(frame)) {
      WindowAudio window = next_window(mel, frame);
      const bool whole = mel.reaches(frame + kWindowFrames - 1);
      const int frames = whole ? kWindowFrames : static_cast<int>(*mel.total_frames() - frame);
      const std::vector<float> loudness = loudness_of(window.mel, frames);
      const auto result = wait(submit(std::move(window), frame == 0));
      if (!result) break;
      const double offset = static_cast<double>(frame) / kMelFramesPerSecond;
      frame += static_cast<size_t>(take_window(*result, offset, frames, loudness, false));
      finish_window(frame, static_cast<double>(frame) / kMelFramesPerSecond);
    }
    const size_t frames = mel.total_frames().value_or(frame);
    set_duration(static_cast<double>(stopped_ ? std::min(frame, frames) : frames) / kMelFramesPerSecond);
  }

  void run_batched() {
    struct Chunk {
      std::future<WindowResult> result;
      double offset;
      int frames;
      std::vector<float> loudness;
    };
    std::deque<Chunk> chunks;
    double offset = 0;
    size_t index = 0;
    bool more = true;
    while (!stop_requested()) {
      while (more && chunks.size() < static_cast<size_t>(2 * model_.scheduler().batch())) {
        std::vector<float> samples = next_chunk();
        more = !samples.empty();
        if (!more) break;
        const double seconds = static_cast<double>(samples.size()) / kSampleRate;
        const int frames = static_cast<int>(samples.size() / kMelHop);
        if (index++ >= position_) {
          const auto source = audio_from_samples(std::move(samples));
          MelStream mel(*source, mel_bins_);
          WindowAudio window = next_window(mel, 0);
          std::vector<float> loudness = loudness_of(window.mel, frames);
          chunks.push_back({submit(std::move(window), index == 1), offset, frames, std::move(loudness)});
        }
        offset += seconds;
      }
      if (chunks.empty()) break;
      const auto result = wait(std::move(chunks.front().result));
      if (!result) break;
      take_window(*result, chunks.front().offset, chunks.front().frames, chunks.front().loudness, true);
      context_ = plan_.opening_context();  // the chunks do not know of each other
      const double done =
          chunks.front().offset + static_cast<double>(chunks.front().frames) / kMelFramesPerSecond;
      chunks.pop_front();
      finish_window(++position_, done);
    }
    set_duration(offset);
  }

  std::vector<float> next_chunk() {
    if (filter_) return filter_->next_chunk(kWindowSamples);
    std::vector<float> samples(kWindowSamples);
    size_t filled = 0;
    while (filled < samples.size()) {
      const size_t count = audio_.read(std::span(samples).subspan(filled));
      if (count == 0) break;
      filled += count;
    }
    samples.resize(filled);
    return samples;
  }

  // One window as the device wants it: mels, or the samples that they are made of.
  struct WindowAudio {
    std::vector<float> mel;
    WindowSamples samples;
  };
  WindowAudio next_window(MelStream& mel, size_t frame) const {
    if (send_samples_) return {{}, mel.samples(frame)};
    WindowAudio window{std::vector<float>(static_cast<size_t>(kWindowFrames * mel_bins_)), {}};
    mel.window(frame, window.mel);
    return window;
  }

  // The mean over the mel bins of each frame of real audio; only word times need it.
  std::vector<float> loudness_of(std::span<const float> window, int frames) const {
    std::vector<float> loudness;
    if (!options_.word_timestamps) return loudness;
    const auto bins = static_cast<size_t>(mel_bins_);
    for (size_t frame = 0; frame < static_cast<size_t>(frames); ++frame) {
      const auto row = window.subspan(frame * bins, bins);
      loudness.push_back(std::accumulate(row.begin(), row.end(), 0.0f) / static_cast<float>(bins));
    }
    return loudness;
  }

  // --- one window ---
  std::future<WindowResult> submit(WindowAudio window, bool first) {
    WindowRequest request = plan_.request(std::move(window.mel), context_, first);
    request.audio = std::move(window.samples);
    if (plan_.language_is_open()) {
      request.detect_language = options_.multilingual || !language_settled();
      request.language = language_.token;
    }
    return model_.scheduler().submit(std::move(request), priority_, cancelled_);
  }

  // Nothing when the work was stopped meanwhile.
  std::optional<WindowResult> wait(std::future<WindowResult> future) {
    while (future.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready)
      if (stop_requested()) return std::nullopt;
    return future.get();
  }

  // Adds the window's segments, and returns how far the next window begins after this one, in mel frames.
  int take_window(const WindowResult& result, double offset, int frames, std::span<const float> loudness,
                  bool keep_unfinished) {
    hear_language(result);
    new_segments_.clear();
    const SearchResult& found = result.search;
    if (found.no_speech_probability > options_.no_speech_threshold &&
        found.average_log_probability < options_.log_prob_threshold)
      return frames;

    WindowSplit split = split_window(tokenizer_, found.tokens, frames, keep_unfinished);
    std::vector<std::vector<TimedWord>> words;
    if (result.alignment)
      words =
          time_words(tokenizer_, language_.code,
                     {*result.alignment, aligned_start(result), frames, loudness, last_speech_end_ - offset},
                     {options_.prepend_punctuations, options_.append_punctuations}, split.segments);
    words.resize(split.segments.size());
    if (const double spoken = last_word_end(words); !split.finished && !keep_unfinished && spoken > 0)
      split.advance = std::clamp(static_cast<int>(std::lround(spoken * kMelFramesPerSecond)), 1, frames);
    if (result.context_dropped) context_.clear();  // it misled this window, and would the next
    for (size_t i = 0; i < split.segments.size(); ++i)
      add_segment(split.segments[i], words[i], offset, result);

    const bool forget =
        !options_.condition_on_previous_text || result.temperature > options_.prompt_reset_on_temperature;
    if (forget || repeats_itself(transcript_.segments)) context_.clear();
    return split.advance;
  }

  // The alignment is made with the no-timestamps token behind the start tokens.
  size_t aligned_start(const WindowResult& result) const {
    return result.start.size() + (result.start.back() == tokenizer_.special().no_timestamps ? 0 : 1);
  }

  void hear_language(const WindowResult& result) {
    if (result.languages.empty()) return;
    ++windows_heard_;
    spoken_ = result.languages.front();
    if (spoken_.probability > language_.probability) language_ = spoken_;
    if (callbacks_.on_language) callbacks_.on_language(result.languages);
  }

  bool language_settled() const {
    return windows_heard_ >= options_.language_detection_segments ||
           language_.probability >= options_.language_detection_threshold;
  }

  void add_segment(const WindowSegment& piece, const std::vector<TimedWord>& words, double offset,
                   const WindowResult& result) {
    std::string text = tokenizer_.decode(piece.tokens);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos || piece.end <= piece.start) return;
    remember(piece.tokens);

    Segment segment;
    segment.id = static_cast<int>(transcript_.segments.size());
    segment.start = input_start(offset + piece.start);
    segment.end = std::max(segment.start, input_end(offset + piece.end));
    segment.compression_ratio = compression_ratio(text);
    segment.text = std::move(text);
    segment.tokens = piece.tokens;
    for (const TimedWord& word : words) {
      const double start = input_start(offset + word.start);
      segment.words.push_back(
          {word.text, start, std::max(start, input_end(offset + word.end)), word.probability});
    }
    segment.language = options_.multilingual && !spoken_.code.empty() ? spoken_.code : language_.code;
    segment.temperature = result.temperature;
    segment.average_log_probability = result.search.average_log_probability;
    segment.no_speech_probability = result.search.no_speech_probability;
    segment.trust.language_probability = options_.multilingual ? spoken_.probability : language_.probability;
    segment.trust.attempts = result.attempts;
    if (filter_) segment.trust.uncovered_speech = std::max(0.0, offset + piece.start - last_speech_end_);
    segment.trust.suspect = suspicion(segment, result.compression_ratio, options_, transcript_.segments);
    last_speech_end_ = offset + piece.end;
    transcript_.segments.push_back(segment);
    new_segments_.push_back(std::move(segment));
    if (callbacks_.on_segment) callbacks_.on_segment(transcript_.segments.back());
  }

  void remember(const std::vector<TokenId>& tokens) {
    context_.insert(context_.end(), tokens.begin(), tokens.end());
    // Only the end of the context is ever used; a long file must not keep all of it.
    const auto most = static_cast<size_t>(model_.config().text_positions);
    if (context_.size() > most)
      context_.erase(context_.begin(), context_.end() - static_cast<ptrdiff_t>(most));
  }

  // --- bookkeeping ---
  double input_start(double seconds) const { return filter_ ? filter_->original_start(seconds) : seconds; }
  double input_end(double seconds) const { return filter_ ? filter_->original_end(seconds) : seconds; }

  void set_duration(double seconds) {
    transcript_.duration = !filter_   ? seconds
                           : stopped_ ? filter_->original_end(seconds)
                                      : filter_->seconds_read();
  }

  void finish_window(size_t next_position, double seconds_done) {
    if (log_)
      log_->record({next_position, context_, language_.token, language_.code, language_.probability,
                    windows_heard_, last_speech_end_, std::move(new_segments_)});
    report_progress(input_end(seconds_done));
  }

  void restore(const ResumePoint& point) {
    position_ = point.position;
    context_ = point.context;
    language_ = {point.language_code, point.language, point.language_probability};
    windows_heard_ = point.windows_heard;
    last_speech_end_ = point.last_speech_end;
    for (Segment segment : point.segments) {
      segment.id = static_cast<int>(transcript_.segments.size());
      transcript_.segments.push_back(std::move(segment));
      if (callbacks_.on_segment) callbacks_.on_segment(transcript_.segments.back());
    }
  }

  bool stop_requested() {
    stopped_ = stopped_ || (callbacks_.should_stop && callbacks_.should_stop());
    return stopped_;
  }

  void report_progress(double done) const {
    const double most = total_ < 0 ? std::numeric_limits<double>::max() : total_;
    if (callbacks_.on_progress) callbacks_.on_progress(std::min(done, most), total_);
  }

  LoadedModel& model_;
  const Scheduler::User user_{model_.scheduler()};  // the model stays loaded from window to window
  const Tokenizer& tokenizer_;
  const Options& options_;
  const TranscribeCallbacks& callbacks_;
  const DecodingPlan plan_;
  const int mel_bins_;
  // Word times look at the mels here, so there they are computed here.
  const bool send_samples_ = model_.placement().computes_mel && !options_.word_timestamps;
  AudioSource& audio_;
  std::optional<SpeechFilter> filter_;  // without one the model hears everything
  const double total_;                  // seconds of the input, -1: unknown
  int priority_ = 0;
  std::optional<ResumeLog> log_;
  std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);

  size_t position_ = 0;           // where an earlier run had got to; batched: chunks taken
  std::vector<TokenId> context_;  // tokens of the text so far that the next window may see
  LanguageProbability language_{"", SpecialTokens::none, 0};  // of the whole input
  LanguageProbability spoken_{"", SpecialTokens::none, 0};    // of the last window that was asked
  int windows_heard_ = 0;
  double last_speech_end_ = 0;         // of the last text, on the time line of what the model hears
  std::vector<Segment> new_segments_;  // of the last window
  Transcript transcript_;
  bool stopped_ = false;
};

}  // namespace

Transcript transcribe(LoadedModel& model, AudioSource& audio, const Options& options,
                      const TranscribeCallbacks& callbacks, const std::string& identity) {
  return Transcription(model, audio, options, callbacks, identity).run();
}

}  // namespace sotto
