#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/options.h"

namespace sotto {

// One option that something other than the caller has set.
struct Setting {
  std::string name;    // of the option: "device"
  std::string value;   // as text
  std::string origin;  // for people: "SOTTO_DEVICE", "./.env (GPU_BACKEND)", "/etc/sotto/config.toml:3"
};

// Where settings are looked for. Later files win over earlier ones, .env over files, the environment over
// .env.
struct ConfigPlaces {
  std::vector<std::filesystem::path> files;  // TOML: system, user, project
  std::filesystem::path dotenv;
  std::function<std::optional<std::string>(const char* name)> environment;
};

ConfigPlaces default_config_places();

struct Configuration {
  std::vector<Setting> settings;               // at most one for each option: the one that counts
  std::vector<std::filesystem::path> read;     // files that exist and were read
  std::vector<std::filesystem::path> missing;  // files that would be read
  std::vector<std::string> notes;              // keys that mean nothing, one sentence each
};

// Throws Error(usage) that names file and line (or the variable) for text that is no TOML and for values that
// an option does not take. Files that are not there are fine.
Configuration read_configuration(const ConfigPlaces& places);

// A configuration file with every option as a comment: what it means, its default, and where to read more.
std::string example_configuration();

}  // namespace sotto
