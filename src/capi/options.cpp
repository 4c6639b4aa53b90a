// Messages, options and the configuration of the user.
#include <algorithm>

#include "base/log.h"
#include "capi/guard.h"
#include "capi/handles.h"
#include "device/config.h"
#include "device/device_json.h"

namespace {

using namespace sotto::capi;
using sotto::Error;
using sotto::ErrorCode;

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

}  // namespace

extern "C" {

void sotto_set_log(sotto_log_callback callback, void* user) {
  guard([&] {
    if (callback == nullptr) {
      sotto::set_log_sink(nullptr);
    } else {
      sotto::set_log_sink([callback, user](sotto::LogLevel level, std::string_view text) {
        callback(static_cast<sotto_log_level>(level), std::string(text).c_str(), user);
      });
    }
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
  });
}

sotto_status sotto_options_new(sotto_options** out) {
  return guard([&] {
    require(out, "out");
    *out = new sotto_options();
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
  });
}

sotto_status sotto_options_get(const sotto_options* options, const char* name, char** out) {
  return guard([&] {
    require(options, "options");
    require(name, "name");
    require(out, "out");
    *out = copy_text(sotto::get_option(options->values, name));
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
  });
}

sotto_status sotto_example_configuration(char** out) {
  return guard([&] {
    require(out, "out");
    *out = copy_text(sotto::example_configuration());
  });
}

}  // extern "C"
