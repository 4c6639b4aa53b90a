#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "device/self_test.h"
#include "platform/directories.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

std::string key_of(const Device& device, ComputeType type) {
  return fmt::format("{} | {} | {} | {} | {} | {}", device_kind_name(device.kind),
                     device.uuid.empty() ? device.name : device.uuid, device.architecture, device.driver,
                     compute_type_name(type), SOTTO_VERSION);
}

Json read(const std::filesystem::path& path) {
  std::ifstream file(path);
  Json document = Json::parse(file, nullptr, false);
  return document.is_object() ? document : Json::object();
}

}  // namespace

SelfTestCache::SelfTestCache(std::filesystem::path file) : file_(std::move(file)) {}

std::optional<SelfTestResult> SelfTestCache::find(const Device& device, ComputeType type) const {
  try {
    const Json document = read(file_);
    const auto entry = document.find(key_of(device, type));
    if (entry == document.end()) return std::nullopt;
    SelfTestResult result;
    result.passed = entry->at("passed").get<bool>();
    result.error = entry->at("error").is_null() ? std::numeric_limits<double>::infinity()
                                                : entry->at("error").get<double>();
    result.bound = entry->at("bound").get<double>();
    result.text = entry->at("text").get<std::string>();
    result.expected = entry->at("expected").get<std::string>();
    if (entry->contains("seconds"))
      result.timing = {entry->at("seconds").get<double>(), entry->at("cpu_seconds").get<double>()};
    return result;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void SelfTestCache::store(const Device& device, ComputeType type,
                          const SelfTestResult& result) const noexcept {
  try {
    Json document = read(file_);
    Json& entry = document[key_of(device, type)];
    entry = {{"passed", result.passed},
             {"error", result.error},
             {"bound", result.bound},
             {"text", result.text},
             {"expected", result.expected}};
    if (result.timing) {
      entry["seconds"] = result.timing->seconds;
      entry["cpu_seconds"] = result.timing->cpu_seconds;
    }
    std::filesystem::create_directories(file_.parent_path());
    const std::filesystem::path unfinished = file_.string() + ".new";
    {
      std::ofstream file(unfinished);
      file << document.dump(1, ' ', false, Json::error_handler_t::replace) << "\n";
      if (!file.flush()) return;
    }
    std::filesystem::rename(unfinished, file_);
  } catch (const std::exception&) {  // the test runs again next time, that is all
  }
}

std::filesystem::path default_self_test_cache() {
  return user_cache_directory() / "self-tests.json";
}

}  // namespace sotto
