// The C API over the engine. Every call that can fail is guarded: no exception crosses the border.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "device/config.h"
#include "device/detect.h"
#include "device/device_json.h"
#include "device/doctor.h"
#include "device/self_test.h"
#include "engine/bench.h"
#include "engine/loaded_model.h"
#include "engine/resume_log.h"
#include "engine/transcriber.h"
#include "model/convert.h"
#include "model/store.h"
#include "output/writers.h"
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

struct sotto_result {
  sotto::Transcript transcript;
};

namespace {

using sotto::Error;
using sotto::ErrorCode;

std::string& last_error() {
  thread_local std::string text;  // of this thread's last failing call; nothing of a device depends on it
  return text;
}

sotto_status status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return SOTTO_ERROR_USAGE;
    case ErrorCode::io:
      return SOTTO_ERROR_IO;
    case ErrorCode::bad_model:
      return SOTTO_ERROR_MODEL;
    case ErrorCode::bad_audio:
      return SOTTO_ERROR_AUDIO;
    case ErrorCode::unsupported:
      return SOTTO_ERROR_UNSUPPORTED;
    case ErrorCode::out_of_memory:
      return SOTTO_ERROR_MEMORY;
    case ErrorCode::cancelled:
      return SOTTO_CANCELLED;
    case ErrorCode::device:
      return SOTTO_ERROR_DEVICE;
    case ErrorCode::internal:
      return SOTTO_ERROR_INTERNAL;
  }
  return SOTTO_ERROR_INTERNAL;
}

sotto_status fail(sotto_status status, const char* text) noexcept {
  try {
    last_error() = text;
  } catch (...) {  // no memory even for the message: the status has to do
  }
  return status;
}

template <class Body>
sotto_status guard(Body body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    return fail(status_of(error.code()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(SOTTO_ERROR_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(SOTTO_ERROR_INTERNAL, error.what());
  } catch (...) {
    return fail(SOTTO_ERROR_INTERNAL, "an unknown error");
  }
}

void require(const void* argument, const char* name) {
  if (argument == nullptr) throw Error(ErrorCode::usage, "the argument '{}' must not be NULL", name);
}

char* copy_text(const std::string& text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

// The list of options as C strings, made once.
struct OptionTexts {
  std::string name, group, default_value, choices, help;
  sotto_option_type type;
};

const std::vector<OptionTexts>& option_texts() {
  static const std::vector<OptionTexts> texts = [] {
    std::vector<OptionTexts> list;
    const sotto::Options defaults;
    constexpr sotto_option_type kTypes[] = {SOTTO_OPTION_BOOL, SOTTO_OPTION_INT, SOTTO_OPTION_NUMBER,
                                            SOTTO_OPTION_TEXT};
    for (const sotto::OptionSpec& spec : sotto::option_specs())
      list.push_back({std::string(spec.name), std::string(spec.group), get_option(defaults, spec.name),
                      std::string(spec.choices), std::string(spec.help), kTypes[spec.member.index()]});
    return list;
  }();
  return texts;
}

sotto::TranscribeCallbacks wrap(const sotto_callbacks* given) {
  sotto::TranscribeCallbacks callbacks;
  if (given == nullptr) return callbacks;
  if (given->size < sizeof(sotto_callbacks))
    throw Error(ErrorCode::usage, "sotto_callbacks.size must be sizeof(sotto_callbacks)");
  const sotto_callbacks c = *given;
  if (c.on_segment != nullptr)
    callbacks.on_segment = [c](const sotto::Segment& segment) {
      const sotto_segment view{segment.start, segment.end, segment.text.c_str()};
      c.on_segment(&view, c.user);
    };
  if (c.on_progress != nullptr)
    callbacks.on_progress = [c](double done, double total) { c.on_progress(done, total, c.user); };
  if (c.should_stop != nullptr) callbacks.should_stop = [c] { return c.should_stop(c.user) != 0; };
  return callbacks;
}

sotto_status run(sotto_model* model, sotto::AudioSource& audio, const char* name,
                 const sotto::Options& options, const sotto_callbacks* callbacks, sotto_result** out) {
  auto result = std::make_unique<sotto_result>();
  result->transcript =
      sotto::transcribe(model->model, audio, options, wrap(callbacks), sotto::input_identity(name));
  result->transcript.file = name;
  result->transcript.version = SOTTO_VERSION;
  const bool complete = result->transcript.complete;
  *out = result.release();
  return complete ? SOTTO_OK : fail(SOTTO_CANCELLED, "the work was stopped before its end");
}

sotto::LineRules line_rules(const sotto::Options& options) {
  return {options.max_line_width, options.max_lines, options.max_cps, options.highlight_words};
}

sotto::Options options_or_defaults(const sotto_options* options) {
  return options == nullptr ? sotto::Options() : options->values;
}

}  // namespace

extern "C" {

const char* sotto_version(void) {
  return SOTTO_VERSION;
}
const char* sotto_last_error(void) {
  return last_error().c_str();
}
void sotto_free(char* text) {
  std::free(text);
}

void sotto_set_log(sotto_log_callback callback, void* user) {
  guard([&] {
    if (callback == nullptr) {
      sotto::set_log_sink(nullptr);
    } else {
      sotto::set_log_sink([callback, user](sotto::LogLevel level, std::string_view text) {
        callback(static_cast<sotto_log_level>(level), std::string(text).c_str(), user);
      });
    }
    return SOTTO_OK;
  });
}

size_t sotto_option_count(void) {
  return sotto::option_specs().size();
}

sotto_status sotto_option_at(size_t index, sotto_option_info* out) {
  return guard([&] {
    require(out, "out");
    const auto& texts = option_texts();
    if (index >= texts.size())
      throw Error(ErrorCode::usage, "there is no option {}; there are {}", index, texts.size());
    const OptionTexts& text = texts[index];
    *out = {text.name.c_str(),          text.group.c_str(),   text.type,
            text.default_value.c_str(), text.choices.c_str(), text.help.c_str()};
    return SOTTO_OK;
  });
}

sotto_status sotto_options_new(sotto_options** out) {
  return guard([&] {
    require(out, "out");
    *out = new sotto_options();
    return SOTTO_OK;
  });
}

void sotto_options_free(sotto_options* options) {
  delete options;
}

sotto_status sotto_options_set(sotto_options* options, const char* name, const char* value) {
  return guard([&] {
    require(options, "options");
    require(name, "name");
    require(value, "value");
    sotto::set_option(options->values, name, value);
    if (!options->is_given(name)) options->given.emplace_back(name);
    if (std::string_view(name) == "device") options->device_origin = "--device";
    return SOTTO_OK;
  });
}

sotto_status sotto_options_get(const sotto_options* options, const char* name, char** out) {
  return guard([&] {
    require(options, "options");
    require(name, "name");
    require(out, "out");
    *out = copy_text(sotto::get_option(options->values, name));
    return SOTTO_OK;
  });
}

sotto_status sotto_options_configure(sotto_options* options) {
  return guard([&] {
    require(options, "options");
    const sotto::Configuration configuration = sotto::read_configuration(sotto::default_config_places());
    for (const std::string& note : configuration.notes) sotto::log_message(sotto::LogLevel::warning, note);
    for (const sotto::Setting& setting : configuration.settings) {
      if (options->is_given(setting.name)) continue;
      sotto::set_option(options->values, setting.name, setting.value);
      if (setting.name == "device") options->device_origin = setting.origin;
    }
    return SOTTO_OK;
  });
}

sotto_status sotto_model_open(const sotto_options* options, sotto_model** out) {
  return guard([&] {
    require(out, "out");
    *out = new sotto_model(options_or_defaults(options), options == nullptr ? "" : options->device_origin);
    return SOTTO_OK;
  });
}

void sotto_model_close(sotto_model* model) {
  delete model;
}
const char* sotto_model_name(const sotto_model* model) {
  return model == nullptr ? "" : model->model.name().c_str();
}
const char* sotto_model_device(const sotto_model* model) {
  return model == nullptr ? "" : model->model.placement().line.c_str();
}
int sotto_model_is_demonstration(const sotto_model* model) {
  return model != nullptr && model->model.demonstration() ? 1 : 0;
}

sotto_status sotto_transcribe_file(sotto_model* model, const char* path, const sotto_options* options,
                                   const sotto_callbacks* callbacks, sotto_result** out) {
  return guard([&] {
    require(model, "model");
    require(path, "path");
    require(out, "out");
    const sotto::Options values = options_or_defaults(options);
    const auto audio = sotto::open_audio(path, {.track = values.track, .channel = values.channel});
    return run(model, *audio, path, values, callbacks, out);
  });
}

sotto_status sotto_transcribe_samples(sotto_model* model, const float* samples, size_t count,
                                      const sotto_options* options, const sotto_callbacks* callbacks,
                                      sotto_result** out) {
  return guard([&] {
    require(model, "model");
    require(out, "out");
    if (count > 0) require(samples, "samples");
    const auto audio = sotto::audio_from_samples(std::vector<float>(samples, samples + count));
    return run(model, *audio, "", options_or_defaults(options), callbacks, out);
  });
}

void sotto_result_free(sotto_result* result) {
  delete result;
}

size_t sotto_result_segment_count(const sotto_result* result) {
  return result == nullptr ? 0 : result->transcript.segments.size();
}

sotto_status sotto_result_segment(const sotto_result* result, size_t index, sotto_segment* out) {
  return guard([&] {
    require(result, "result");
    require(out, "out");
    const auto& segments = result->transcript.segments;
    if (index >= segments.size())
      throw Error(ErrorCode::usage, "there is no segment {}; there are {}", index, segments.size());
    *out = {segments[index].start, segments[index].end, segments[index].text.c_str()};
    return SOTTO_OK;
  });
}

const char* sotto_result_language(const sotto_result* result) {
  return result == nullptr ? "" : result->transcript.language.c_str();
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
    const sotto::Writer* writer = sotto::find_writer(format);
    if (writer == nullptr) {
      std::string known;
      for (const sotto::Writer& each : sotto::writers())
        known += (known.empty() ? "" : ", ") + std::string(each.format);
      throw Error(ErrorCode::usage, "there is no output format '{}'; there are {}", format, known);
    }
    std::ostringstream text;
    writer->write(text, result->transcript, line_rules(options_or_defaults(options)));
    *out = copy_text(text.str());
    return SOTTO_OK;
  });
}

sotto_status sotto_devices(const sotto_options* options, int refresh, char** out) {
  return guard([&] {
    require(out, "out");
    const auto timeout = sotto::probe_timeout(options_or_defaults(options));
    sotto::Catalogue catalogue = sotto::find_devices({.probe_timeout = timeout, .refresh = refresh != 0});
    recall_self_tests(catalogue, sotto::SelfTestCache(sotto::default_self_test_cache()));
    *out = copy_text(catalogue_json(catalogue));
    return SOTTO_OK;
  });
}

sotto_status sotto_doctor(const sotto_options* options, int refresh,
                          void (*on_step)(const char* step, void* user), void* user, char** out) {
  return guard([&] {
    require(out, "out");
    const sotto::Options values = options_or_defaults(options);
    const auto step = [&](const std::string& text) {
      if (on_step != nullptr) on_step(text.c_str(), user);
    };
    const sotto::Detection detection =
        sotto::detect_devices({.probe_timeout = sotto::probe_timeout(values), .refresh = refresh != 0});
    const sotto::SelfTestCache cache(sotto::default_self_test_cache());
    *out =
        copy_text(doctor_json(examine(detection, sotto::built_in_backends(), cache, values.threads, step)));
    return SOTTO_OK;
  });
}

sotto_status sotto_configuration(const sotto_options* options, char** out) {
  return guard([&] {
    require(out, "out");
    const sotto::Configuration configuration = sotto::read_configuration(sotto::default_config_places());
    const std::vector<std::string> given = options == nullptr ? std::vector<std::string>() : options->given;
    sotto::Options values = options_or_defaults(options);
    for (const sotto::Setting& setting : configuration.settings)
      if (std::find(given.begin(), given.end(), setting.name) == given.end())
        sotto::set_option(values, setting.name, setting.value);
    *out = copy_text(configuration_json(configuration, values, given));
    return SOTTO_OK;
  });
}

sotto_status sotto_example_configuration(char** out) {
  return guard([&] {
    require(out, "out");
    *out = copy_text(sotto::example_configuration());
    return SOTTO_OK;
  });
}

sotto_status sotto_model_info(const char* path, char** out) {
  return guard([&] {
    require(path, "path");
    require(out, "out");
    *out = copy_text(sotto::describe_checkpoint(sotto::open_checkpoint(path)));
    return SOTTO_OK;
  });
}

sotto_status sotto_convert(const char* from, const char* to, const char* type) {
  return guard([&] {
    require(from, "from");
    require(to, "to");
    require(type, "type");
    const std::string_view name = type;
    if (name != "float32" && name != "float16" && name != "bfloat16")
      throw Error(ErrorCode::usage, "a model is converted to float32, float16 or bfloat16, not to '{}'",
                  name);
    const sotto::DType dtype = name == "float32"   ? sotto::DType::f32
                               : name == "float16" ? sotto::DType::f16
                                                   : sotto::DType::bf16;
    sotto::write_safetensors(sotto::open_checkpoint(from), to, dtype);
    return SOTTO_OK;
  });
}

sotto_status sotto_bench(const sotto_options* options, const char* shapes,
                         void (*on_step)(const char* step, void* user), void* user, char** out) {
  return guard([&] {
    require(shapes, "shapes");
    require(out, "out");
    const auto step = [&](const std::string& text) {
      if (on_step != nullptr) on_step(text.c_str(), user);
    };
    *out = copy_text(sotto::run_bench(options_or_defaults(options), shapes, step));
    return SOTTO_OK;
  });
}

}  // extern "C"
