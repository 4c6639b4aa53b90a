#include "device/config_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/error.h"
#include "device/choice.h"

namespace sotto {
namespace {

constexpr std::uintmax_t kMostBytes = 1 << 20;

std::string place_of(const toml::node& node, const std::string& path) {
  return fmt::format("{}:{}", path, node.source().begin.line);
}

// A plain value as the option list reads it; a list becomes one with commas.
std::optional<std::string> value_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  if (const auto whole = node.value_exact<int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const toml::array* list = node.as_array()) {
    std::string joined;
    for (const toml::node& element : *list) {
      const auto text = element.is_array() ? std::nullopt : value_text(element);
      if (!text) return std::nullopt;
      joined += (joined.empty() ? "" : ",") + *text;
    }
    return joined;
  }
  return std::nullopt;
}

bool is_option(std::string_view name) {
  const auto specs = option_specs();
  return std::any_of(specs.begin(), specs.end(), [&](const OptionSpec& spec) { return spec.name == name; });
}

class FileReader {
 public:
  FileReader(const std::string& path, std::vector<std::string>& notes) : path_(path), notes_(notes) {}

  std::vector<Setting> read(const toml::table& table) {
    for (const auto& [key, node] : table) {
      std::string name(key.str());
      std::replace(name.begin(), name.end(), '_', '-');
      if (name == "use-cuda") {
        use_cuda_ = &node;
      } else if (name == "gpu-backend") {
        gpu_backend_ = &node;
      } else if (is_option(name)) {
        add(name, node);
      } else {
        notes_.push_back(fmt::format("{}: there is no option '{}'; sotto config --example lists them",
                                     place_of(node, path_), std::string(key.str())));
      }
    }
    add_device();
    return std::move(settings_);
  }

 private:
  void add(const std::string& name, const toml::node& node) {
    const auto text = value_text(node);
    if (!text)
      throw Error(ErrorCode::usage,
                  "{}: option '{}' takes a text, a number, true or false, or a list of them",
                  place_of(node, path_), name);
    Options scratch;
    try {
      set_option(scratch, name, *text);
      if (name == "device") parse_device_name(*text);
    } catch (const Error& error) {
      throw Error(error.code(), "{}: {}", place_of(node, path_), error.what());
    }
    settings_.push_back({name, *text, place_of(node, path_)});
  }

  void add_device() {
    const auto device = [&] {
      return std::find_if(settings_.begin(), settings_.end(),
                          [](const Setting& s) { return s.name == "device"; });
    };
    if (gpu_backend_ != nullptr && device() == settings_.end()) add("device", *gpu_backend_);
    if (use_cuda_ == nullptr) return;
    const auto wanted = use_cuda_->value_exact<bool>();
    if (!wanted) throw Error(ErrorCode::usage, "{}: use_cuda is true or false", place_of(*use_cuda_, path_));
    if (*wanted || (device() != settings_.end() && device()->value != "auto")) return;
    if (device() != settings_.end()) settings_.erase(device());
    settings_.push_back({"device", "cpu", place_of(*use_cuda_, path_) + " (use_cuda)"});
  }

  const std::string& path_;
  std::vector<std::string>& notes_;
  std::vector<Setting> settings_;
  const toml::node* use_cuda_ = nullptr;
  const toml::node* gpu_backend_ = nullptr;
};

}  // namespace

std::optional<std::string> config_text(const std::filesystem::path& path) {
  std::error_code problem;
  if (!std::filesystem::is_regular_file(path, problem)) return std::nullopt;
  const auto size = std::filesystem::file_size(path, problem);
  if (!problem && size > kMostBytes)
    throw Error(ErrorCode::io, "the configuration file '{}' is too large to be one: {} bytes", path.string(),
                size);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw Error(ErrorCode::io, "the configuration file '{}' cannot be read", path.string());
  return text.str();
}

std::vector<Setting> parse_config_file(const std::string& text, const std::string& path,
                                       std::vector<std::string>& notes) {
  try {
    return FileReader(path, notes).read(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    throw Error(ErrorCode::usage, "{}:{}: this is no TOML: {}", path, error.source().begin.line,
                error.description());
  }
}

std::string toml_value(const OptionSpec& spec, const std::string& value) {
  if (!std::holds_alternative<std::string Options::*>(spec.member)) return value;
  std::ostringstream text;
  text << toml::value<std::string>(value);
  return text.str();
}

}  // namespace sotto
