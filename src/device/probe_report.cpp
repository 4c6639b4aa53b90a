#include "device/probe_report.h"

#include <type_traits>

#include <nlohmann/json.hpp>

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

// Each field is named once, here: a writer and a reader both walk this list.
template <class Visitor, class Device>
void visit_fields(Visitor&& visit, Device& device) {
  visit("index", device.index);
  visit("name", device.name);
  visit("uuid", device.uuid);
  visit("pci_address", device.pci_address);
  visit("architecture", device.architecture);
  visit("driver", device.driver);
  visit("memory_total", device.memory_total);
  visit("memory_free", device.memory_free);
  visit("integrated", device.integrated);
  visit("software", device.software);
  visit("float16_arithmetic", device.float16_arithmetic);
  visit("float16_storage", device.float16_storage);
  visit("int8_arithmetic", device.int8_arithmetic);
  visit("int8_storage", device.int8_storage);
  visit("int8_dot_product", device.int8_dot_product);
  visit("subgroup_size", device.subgroup_size);
}

Json to_json(const DriverError& error) {
  return {{"step", error.step}, {"code", error.code}, {"text", error.text}};
}

Json to_json(const ProbedDevice& device) {
  Json json;
  visit_fields([&](const char* name, const auto& field) { json[name] = field; }, device);
  if (device.problem) json["problem"] = to_json(*device.problem);
  return json;
}

// Keeps the default where the member is missing or of another kind.
template <class Value>
void read(const Json& object, const char* name, Value& value) {
  const auto member = object.find(name);
  if (member == object.end()) return;
  if constexpr (std::is_same_v<Value, std::string>) {
    if (member->is_string()) value = member->get<std::string>();
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (member->is_boolean()) value = member->get<bool>();
  } else if constexpr (std::is_unsigned_v<Value>) {
    if (member->is_number_unsigned()) value = member->get<Value>();
  } else {
    if (member->is_number_integer()) value = member->get<Value>();
  }
}

std::optional<DriverError> error_from(const Json& object, const char* name) {
  const auto member = object.find(name);
  if (member == object.end() || !member->is_object()) return std::nullopt;
  DriverError error;
  read(*member, "step", error.step);
  read(*member, "code", error.code);
  read(*member, "text", error.text);
  return error;
}

ProbedDevice device_from(const Json& object) {
  ProbedDevice device;
  visit_fields([&](const char* name, auto& field) { read(object, name, field); }, device);
  device.problem = error_from(object, "problem");
  return device;
}

}  // namespace

std::string probe_report_to_json(const ProbeReport& report) {
  Json json = {{"probe", kProbeVersion}, {"version", report.version}, {"api_version", report.api_version}};
  json["devices"] = Json::array();
  for (const ProbedDevice& device : report.devices) json["devices"].push_back(to_json(device));
  if (report.error) json["error"] = to_json(*report.error);
  // A driver's names may hold anything: what is not UTF-8 is replaced.
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

std::optional<ProbeReport> probe_report_from_json(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  int version = 0;
  read(json, "probe", version);
  const auto devices = json.find("devices");
  if (version != kProbeVersion || devices == json.end() || !devices->is_array()) return std::nullopt;
  ProbeReport report;
  read(json, "version", report.version);
  read(json, "api_version", report.api_version);
  for (const Json& device : *devices) {
    if (!device.is_object()) return std::nullopt;
    report.devices.push_back(device_from(device));
  }
  report.error = error_from(json, "error");
  return report;
}

}  // namespace sotto
