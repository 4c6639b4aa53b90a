// Transcribing, and what comes of it.
#include <sstream>

#include "capi/caller_struct.h"
#include "capi/guard.h"
#include "capi/handles.h"
#include "engine/transcriber.h"
#include "output/writers.h"

namespace {

using namespace sotto::capi;
using sotto::Error;
using sotto::ErrorCode;

sotto::TranscribeCallbacks wrap(const sotto_callbacks* given) {
  sotto::TranscribeCallbacks callbacks;
  if (given == nullptr) return callbacks;
  const auto c = caller_struct(*given, offsetof(sotto_callbacks, on_language), "sotto_callbacks");
  if (c.on_segment != nullptr)
    callbacks.on_segment = [c](const sotto::Segment& segment) {
      c.on_segment(SegmentViews(std::span(&segment, 1)).all().data(), c.user);
    };
  if (c.on_progress != nullptr)
    callbacks.on_progress = [c](double done, double total) { c.on_progress(done, total, c.user); };
  if (c.should_stop != nullptr) callbacks.should_stop = [c] { return c.should_stop(c.user) != 0; };
  if (c.on_language != nullptr)
    callbacks.on_language = [c](std::span<const sotto::LanguageProbability> heard) {
      std::vector<sotto_language> languages;
      for (const auto& each : heard) languages.push_back({each.code.c_str(), each.probability});
      c.on_language(languages.data(), languages.size(), c.user);
    };
  return callbacks;
}

void run(sotto_model* model, sotto_audio& audio, const sotto::Options& options,
         const sotto_callbacks* callbacks, sotto_result** out) {
  sotto::Transcript transcript =
      sotto::transcribe(model->model, *audio.source, options, wrap(callbacks), audio.identity);
  transcript.file = audio.name;
  transcript.version = SOTTO_VERSION;
  const bool complete = transcript.complete;
  *out = new sotto_result(std::move(transcript));
  if (!complete) throw Error(ErrorCode::cancelled, "the work was stopped before its end");
}

sotto::LineRules line_rules(const sotto::Options& options) {
  return {options.max_line_width, options.max_lines, options.max_cps, options.highlight_words};
}

const sotto::Writer& writer_of(const char* format) {
  const sotto::Writer* writer = sotto::find_writer(format);
  if (writer != nullptr) return *writer;
  std::string known;
  for (const sotto::Writer& each : sotto::writers())
    known += (known.empty() ? "" : ", ") + std::string(each.format);
  throw Error(ErrorCode::usage, "there is no output format '{}'; there are {}", format, known);
}

}  // namespace

extern "C" {

sotto_status sotto_transcribe(sotto_model* model, sotto_audio* audio, const sotto_options* options,
                              const sotto_callbacks* callbacks, sotto_result** out) {
  return guard([&] {
    require(model, "model");
    require(audio, "audio");
    require(out, "out");
    run(model, *audio, options_or_defaults(options), callbacks, out);
  });
}

sotto_status sotto_transcribe_file(sotto_model* model, const char* path, const sotto_options* options,
                                   const sotto_callbacks* callbacks, sotto_result** out) {
  sotto_audio* audio = nullptr;
  sotto_status status = guard([&] {
    require(model, "model");
    require(out, "out");
  });
  if (status == SOTTO_OK) status = sotto_audio_open_file(path, options, &audio);
  if (status == SOTTO_OK) status = sotto_transcribe(model, audio, options, callbacks, out);
  sotto_audio_close(audio);
  return status;
}

sotto_status sotto_transcribe_samples(sotto_model* model, const float* samples, size_t count,
                                      const sotto_options* options, const sotto_callbacks* callbacks,
                                      sotto_result** out) {
  return guard([&] {
    require(model, "model");
    require(out, "out");
    if (count > 0) require(samples, "samples");
    sotto_audio audio{sotto::audio_from_samples(std::vector<float>(samples, samples + count)), "", ""};
    run(model, audio, options_or_defaults(options), callbacks, out);
  });
}

void sotto_result_free(sotto_result* result) {
  delete result;
}

size_t sotto_result_segment_count(const sotto_result* result) {
  return result == nullptr ? 0 : result->views.all().size();
}
const sotto_segment* sotto_result_segment(const sotto_result* result, size_t index) {
  return index < sotto_result_segment_count(result) ? &result->views.all()[index] : nullptr;
}
const char* sotto_result_language(const sotto_result* result) {
  return result == nullptr ? "" : result->transcript.language.c_str();
}
double sotto_result_language_probability(const sotto_result* result) {
  return result == nullptr ? 0 : result->transcript.language_probability;
}
double sotto_result_duration(const sotto_result* result) {
  return result == nullptr ? 0 : result->transcript.duration;
}
int sotto_result_is_complete(const sotto_result* result) {
  return result != nullptr && result->transcript.complete ? 1 : 0;
}

size_t sotto_output_format_count(void) {
  return sotto::writers().size();
}
const char* sotto_output_format(size_t index) {  // the table holds string literals
  return index < sotto::writers().size() ? sotto::writers()[index].format.data() : nullptr;
}
const char* sotto_output_format_description(size_t index) {
  return index < sotto::writers().size() ? sotto::writers()[index].description.data() : nullptr;
}

sotto_status sotto_result_write(const sotto_result* result, const char* format, const sotto_options* options,
                                char** out) {
  return guard([&] {
    require(result, "result");
    require(format, "format");
    require(out, "out");
    std::ostringstream text;
    writer_of(format).write(text, result->transcript, line_rules(options_or_defaults(options)));
    *out = copy_text(text.str());
  });
}

}  // extern "C"
