#include "device/device_json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "device/messages.h"

namespace sotto {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& document) {  // a driver's own words need not be UTF-8
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

Json finding_value(const Finding& finding) {
  return {{"code", words_of(finding.code).id},
          {"subject", finding.subject},
          {"detail", finding.detail},
          {"sentence", finding_sentence(finding)},
          {"remedy", words_of(finding.code).remedy},
          {"link", finding_link(finding.code)}};
}

Json findings_value(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const Finding& finding : findings) list.push_back(finding_value(finding));
  return list;
}

std::string status_of(const Device& device) {
  if (device.obstacle) return finding_sentence(*device.obstacle);
  return device.software ? words::usable_when_asked() : words::usable();
}

Json device_value(const Device& device) {
  Json types = Json::array();
  for (const ComputeType type : device.compute_types) types.push_back(compute_type_name(type));
  Json value{{"id", device.id()},
             {"kind", device_kind_name(device.kind)},
             {"index", device.index},
             {"uuid", device.uuid},
             {"name", device.name},
             {"architecture", device.architecture},
             {"generation", device.generation},
             {"memory_total", device.memory_total},
             {"memory_free", device.memory_free},
             {"driver", device.driver},
             {"integrated", device.integrated},
             {"software", device.software},
             {"compute_types", types},
             {"usable", !device.obstacle.has_value()},
             {"status", status_of(device)}};
  value["obstacle"] = device.obstacle ? finding_value(*device.obstacle) : Json(nullptr);
  return value;
}

std::string_view status_name(GateStatus status) {
  switch (status) {
    case GateStatus::passed:
      return "passed";
    case GateStatus::failed:
      return "failed";
    case GateStatus::skipped:
      return "skipped";
  }
  return "skipped";
}

}  // namespace

std::string catalogue_json(const Catalogue& catalogue) {
  Json devices = Json::array();
  for (const Device& device : catalogue.devices) devices.push_back(device_value(device));
  return dump({{"devices", devices}, {"findings", findings_value(catalogue.findings)}});
}

std::string doctor_json(const DoctorReport& report) {
  Json devices = Json::array();
  for (const Examination& examination : report.devices) {
    Json gates = Json::array();
    for (const Gate& gate : examination.gates)
      gates.push_back({{"gate", words::gate_id(gate.id)},
                       {"title", words::gate_title(gate.id)},
                       {"status", status_name(gate.status)},
                       {"tried", gate.tried},
                       {"seen", gate.seen},
                       {"next", gate.next}});
    devices.push_back({{"device", device_value(examination.device)}, {"gates", gates}});
  }
  return dump({{"devices", devices}, {"findings", findings_value(report.findings)}});
}

std::string configuration_json(const Configuration& configuration, const Options& values,
                               const std::vector<std::string>& given) {
  Json files = Json::array();
  for (const auto& path : configuration.read) files.push_back({{"path", path.string()}, {"read", true}});
  for (const auto& path : configuration.missing) files.push_back({{"path", path.string()}, {"read", false}});
  Json options = Json::array();
  for (const OptionSpec& spec : option_specs()) {
    std::string origin = words::origin_default();
    for (const Setting& setting : configuration.settings)
      if (setting.name == spec.name) origin = setting.origin;
    if (std::find(given.begin(), given.end(), spec.name) != given.end()) origin = words::origin_argument();
    options.push_back({{"name", spec.name}, {"value", get_option(values, spec.name)}, {"origin", origin}});
  }
  return dump({{"files", files}, {"options", options}, {"notes", configuration.notes}});
}

std::vector<std::pair<std::string, std::string>> device_record(const OpenedDevice& opened) {
  const Device& device = opened.device;
  return {{"id", device.id()},
          {"kind", std::string(device_kind_name(device.kind))},
          {"name", device.name},
          {"architecture", device.architecture},
          {"compute_type", std::string(compute_type_name(opened.backend->compute_type()))},
          {"driver", device.driver},
          {"why", opened.why}};
}

}  // namespace sotto
