#pragma once

// What the opaque types of the C API are.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "audio/audio_source.h"
#include "base/options.h"
#include "capi/segment_views.h"
#include "engine/loaded_model.h"
#include "output/transcript.h"
#include <sotto/sotto.h>

struct sotto_options {
  sotto::Options values;
  std::vector<std::string> given;  // options that the caller has set
  std::string device_origin;       // who chose the device, for people

  bool is_given(const std::string& name) const {
    return std::find(given.begin(), given.end(), name) != given.end();
  }
};

struct sotto_model {
  sotto_model(const sotto::Options& options, const std::string& device_origin)
      : model(options, device_origin) {}
  sotto::LoadedModel model;
};

struct sotto_audio {
  std::unique_ptr<sotto::AudioSource> source;
  std::string name;      // for the result
  std::string identity;  // for checkpoints; empty: none can be kept
};

struct sotto_result {
  explicit sotto_result(sotto::Transcript made) : transcript(std::move(made)), views(transcript.segments) {}
  sotto::Transcript transcript;
  sotto::capi::SegmentViews views;  // of the transcript's segments
};

namespace sotto::capi {

inline Options options_or_defaults(const sotto_options* options) {
  return options == nullptr ? Options() : options->values;
}

}  // namespace sotto::capi
