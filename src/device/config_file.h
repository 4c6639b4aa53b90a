#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "device/config.h"

namespace sotto {

// The text of a file; nothing where there is none. Throws Error(io) for one that cannot be read or is far too
// large.
std::optional<std::string> config_text(const std::filesystem::path& path);

// The options that a TOML text sets, each valid by itself. Any option's name is a key, with - or _;
// gpu_backend is another name of device, and use_cuda = false means cpu where the device is left to auto.
// Keys that mean nothing become notes.
std::vector<Setting> parse_config_file(const std::string& text, const std::string& path,
                                       std::vector<std::string>& notes);

// An option's value as TOML writes it.
std::string toml_value(const OptionSpec& spec, const std::string& value);

}  // namespace sotto
