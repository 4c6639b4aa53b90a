#include "device/config.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "device/choice.h"
#include "device/config_file.h"
#include "device/hardware.h"
#include "platform/directories.h"

namespace sotto {
namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// USE_CUDA, which older programs know: true is cuda, false is cpu.
std::optional<bool> truth(std::string_view name, const std::string& value) {
  const std::string text = lower(value);
  if (text.empty()) return std::nullopt;
  if (is_one_of(text, {"1", "true", "yes", "on"})) return true;
  if (is_one_of(text, {"0", "false", "no", "off"})) return false;
  throw Error(ErrorCode::usage, "{} is 1, true, yes, 0, false or no, not '{}'", name, value);
}

using Lookup = std::function<std::optional<std::string>(const char*)>;

// The device that the variables ask for. `place` tells people where they stand: "" or "./.env".
std::optional<Setting> device_from_variables(const Lookup& variable, const std::string& place) {
  const auto origin = [&](std::string_view name) {
    return place.empty() ? std::string(name) : fmt::format("{} in {}", name, place);
  };
  const auto value_of = [&](const char* name) { return variable(name).value_or(""); };
  for (const char* name : {"SOTTO_DEVICE", "GPU_BACKEND"}) {
    const std::string value = lower(value_of(name));
    if (value.empty()) continue;
    // An older "no" still counts where the newer variable leaves it open.
    if (value == "auto" && name == std::string_view("GPU_BACKEND") &&
        truth("USE_CUDA", value_of("USE_CUDA")) == std::optional(false))
      break;
    try {
      parse_device_name(value);
    } catch (const Error& error) {
      throw Error(error.code(), "{}: {}", origin(name), error.what());
    }
    return Setting{"device", value, origin(name)};
  }
  if (const auto wanted = truth("USE_CUDA", value_of("USE_CUDA")))
    return Setting{"device", *wanted ? "cuda" : "cpu", origin("USE_CUDA")};
  return std::nullopt;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kSpaces) - first + 1));
}

// The value of NAME=value lines: an "export " before, quotes around and a comment behind are understood.
std::optional<std::string> dotenv_value(const std::string& text, std::string_view name) {
  std::optional<std::string> found;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = trimmed(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (line.rfind("export ", 0) == 0) line = trimmed(line.substr(7));
    const size_t equals = line.find('=');
    if (equals == std::string::npos || trimmed(line.substr(0, equals)) != name) continue;
    std::string value = trimmed(line.substr(equals + 1));
    if (!value.empty() && (value.front() == '"' || value.front() == '\'')) {
      const size_t close = value.find(value.front(), 1);
      value = value.substr(1, close == std::string::npos ? close : close - 1);
    } else {
      value = trimmed(value.substr(0, value.find('#')));
    }
    found = value;
  }
  return found;
}

void put(std::vector<Setting>& settings, Setting setting) {
  const auto same = std::find_if(settings.begin(), settings.end(),
                                 [&](const Setting& other) { return other.name == setting.name; });
  if (same == settings.end())
    settings.push_back(std::move(setting));
  else
    *same = std::move(setting);
}

}  // namespace

ConfigPlaces default_config_places() {
  ConfigPlaces places;
  places.files = {system_root() / "etc/sotto/config.toml", user_config_directory() / "config.toml",
                  "sotto.toml"};
  places.dotenv = ".env";
  places.environment = [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return places;
}

Configuration read_configuration(const ConfigPlaces& places) {
  Configuration configuration;
  const auto text_of = [&](const std::filesystem::path& path) {
    auto text = config_text(path);
    (text ? configuration.read : configuration.missing).push_back(path);
    return text;
  };
  for (const std::filesystem::path& path : places.files)
    if (const auto text = text_of(path))
      for (Setting& setting : parse_config_file(*text, path.string(), configuration.notes))
        put(configuration.settings, std::move(setting));
  if (const auto text = text_of(places.dotenv)) {
    const auto variable = [&](const char* name) { return dotenv_value(*text, name); };
    if (auto device = device_from_variables(variable, places.dotenv.string()))
      put(configuration.settings, std::move(*device));
  }
  if (auto device = device_from_variables(places.environment, ""))
    put(configuration.settings, std::move(*device));
  return configuration;
}

std::string example_configuration() {
  std::string text =
      "# Sotto's configuration. Copy it to ~/.config/sotto/config.toml (yours), /etc/sotto/config.toml "
      "(everybody's)\n"
      "# or sotto.toml in a project's folder, and remove the # before what you want to change.\n"
      "# The command line wins over this file. How to get GPU acceleration working: docs/gpu.md\n";
  const Options defaults;
  for (const OptionSpec& spec : option_specs()) {
    std::string key(spec.name);
    std::replace(key.begin(), key.end(), '-', '_');
    text += fmt::format("\n# {}\n", spec.help);
    if (!spec.choices.empty()) text += fmt::format("# One of: {}\n", spec.choices);
    if (spec.name == "device")
      text += "# cuda: docs/gpu.md#nvidia   rocm: docs/gpu.md#amd   vulkan: docs/gpu.md#vulkan\n";
    text += fmt::format("#{} = {}\n", key, toml_value(spec, get_option(defaults, spec.name)));
  }
  return text;
}

}  // namespace sotto
