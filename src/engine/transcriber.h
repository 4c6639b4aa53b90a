#pragma once

#include <functional>
#include <span>
#include <string>

#include "audio/audio_source.h"
#include "engine/loaded_model.h"
#include "output/transcript.h"
#include "whisper/language_detection.h"

namespace sotto {

// How a caller follows and ends long work. Everything is optional and runs on the thread that called
// transcribe.
struct TranscribeCallbacks {
  std::function<void(const Segment&)> on_segment;
  std::function<void(std::span<const LanguageProbability>)> on_language;       // of a window that was asked
  std::function<void(double seconds_done, double seconds_total)> on_progress;  // total < 0: unknown
  std::function<bool()> should_stop;
};

// From audio to text, on the calling thread, with the model's scheduler doing the device work. Any number of
// threads may do this with one model at the same time; what comes out does not depend on the others. Memory
// does not grow with the length of the audio (the transcript itself does). When should_stop says so the
// transcript holds what is done and is marked as incomplete. `identity` names the input for the checkpoint
// file, where the options ask for one.
Transcript transcribe(LoadedModel& model, AudioSource& audio, const Options& options,
                      const TranscribeCallbacks& callbacks = {}, const std::string& identity = {});

}  // namespace sotto
