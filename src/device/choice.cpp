#include "device/choice.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "device/compute_types.h"
#include "device/detect.h"
#include "device/messages.h"

namespace sotto {
namespace {

constexpr size_t kFewestUuidDigits = 8;

constexpr std::pair<std::string_view, DeviceKind> kNames[] = {
    {"cuda", DeviceKind::cuda},   {"rocm", DeviceKind::rocm}, {"hip", DeviceKind::rocm},
    {"metal", DeviceKind::metal}, {"mps", DeviceKind::metal}, {"vulkan", DeviceKind::vulkan},
    {"cpu", DeviceKind::cpu}};

bool is_index(std::string_view text) {
  constexpr size_t kMostDigits = 4;  // longer ones can only be the beginning of a UUID
  return !text.empty() && text.size() <= kMostDigits &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The digits of a UUID however it is written: "GPU-3F2A91C0-..." and "3f2a91c0..." are the same.
std::string uuid_digits(std::string_view text) {
  if (text.substr(0, 4) == "GPU-") text.remove_prefix(4);
  std::string digits;
  for (const unsigned char c : text)
    if (c != '-') digits += static_cast<char>(std::tolower(c));
  return digits;
}

bool is_uuid_start(std::string_view text) {
  const std::string digits = uuid_digits(text);
  return digits.size() >= kFewestUuidDigits &&
         std::all_of(digits.begin(), digits.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

bool is_the_one(const Device& device, std::string_view which) {
  if (which.empty()) return true;
  if (is_index(which)) {
    int index = -1;
    std::from_chars(which.data(), which.data() + which.size(), index);
    return device.index == index;
  }
  const std::string wanted = uuid_digits(which);
  return !device.uuid.empty() && uuid_digits(device.uuid).substr(0, wanted.size()) == wanted;
}

const Device& the_cpu(const Catalogue& catalogue) {
  if (catalogue.devices.empty() || catalogue.devices.back().kind != DeviceKind::cpu)
    throw Error(ErrorCode::internal, "the CPU is missing from the list of devices");
  return catalogue.devices.back();
}

// What the backend says of itself, less the word that the line around it says already.
std::string cpu_details(const Backend& backend) {
  constexpr std::string_view kPrefix = "CPU, ";
  std::string text = backend.description();
  return text.substr(0, kPrefix.size()) == kPrefix ? text.substr(kPrefix.size()) : text;
}

// Best first: as measured where all GPUs have been timed, else as they are listed.
std::vector<Device> by_speed(const std::vector<Device>& devices) {
  std::vector<Device> sorted;
  for (const Device& device : devices)
    if (device.kind != DeviceKind::cpu && !device.software) sorted.push_back(device);
  const auto timed = [](const Device& device) { return device.timing.has_value(); };
  if (std::all_of(sorted.begin(), sorted.end(), timed))
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Device& a, const Device& b) { return a.timing->seconds < b.timing->seconds; });
  return sorted;
}

// What was asked of another device need not be what the CPU has.
ComputeType type_for_fallback(const Device& cpu, ComputeType asked) {
  const auto& types = cpu.compute_types;
  return std::find(types.begin(), types.end(), asked) != types.end() ? asked : ComputeType::automatic;
}

class Opening {
 public:
  Opening(const DeviceRequest& request, const Catalogue& catalogue, std::span<const BackendEntry> backends,
          TrustCheck trust_check)
      : request_(request), catalogue_(catalogue), backends_(backends), trust_check_(trust_check) {}

  OpenedDevice run() {
    const DeviceName name = parse_device_name(request_.device);
    if (!name.kind) {
      open_best();
    } else if (*name.kind == DeviceKind::cpu) {
      open_cpu();
      result_.why = words::chosen_by(request_.origin);
      result_.line = words::using_cpu(cpu_details(*result_.backend), result_.backend->compute_type());
    } else {
      open_asked(name);
    }
    return std::move(result_);
  }

 private:
  void open_best() {
    std::vector<std::string> told;  // one card may be reachable in two ways: it is told of once
    const Device* slower = nullptr;
    const std::vector<Device> candidates = by_speed(catalogue_.devices);
    for (const Device& device : candidates) {
      if (!device.obstacle && device.timing && device.timing->slower_than_cpu()) {
        result_.notes.push_back({LogLevel::info, words::slower_here(device)});
        slower = &device;
        continue;
      }
      if (const auto obstacle = try_device(device)) {
        if (std::find(told.begin(), told.end(), device.name) != told.end()) continue;
        told.push_back(device.name);
        Device refused = device;
        refused.obstacle = obstacle;
        result_.notes.push_back({LogLevel::info, words::passed_over(refused)});
        continue;
      }
      take_gpu(device, device.timing ? words::measured(*device.timing) : words::best_of_all());
      return;
    }
    if (slower != nullptr) {
      open_cpu();
      result_.why = words::cpu_is_faster(*slower);
      result_.line = words::using_cpu(cpu_details(*result_.backend), result_.backend->compute_type());
      return;
    }
    for (const Finding& finding : catalogue_.findings)
      if (finding.code != FindingCode::no_gpu && finding.code != FindingCode::software_only)
        result_.notes.push_back({LogLevel::info, explain(finding)});
    open_cpu();
    result_.why = words::only_cpu();
    result_.line = words::no_gpu_using_cpu(cpu_details(*result_.backend), result_.backend->compute_type());
  }

  void open_asked(const DeviceName& name) {
    std::string reason;
    std::vector<std::string> there;
    bool matched = false;
    for (const Device& device : catalogue_.devices) {
      if (device.kind != *name.kind) continue;
      there.push_back(device.id());
      if (!is_the_one(device, name.which)) continue;
      matched = true;
      const auto obstacle = try_device(device);
      if (!obstacle) {
        take_gpu(device, words::chosen_by(request_.origin));
        return;
      }
      if (reason.empty()) reason = explain(*obstacle);
    }
    if (there.empty()) {
      reason = words::no_device_of_kind(*name.kind, catalogue_.findings);
    } else if (!matched) {
      reason = words::no_such_device(request_.device, there);
    }
    fall_back(reason);
  }

  void fall_back(const std::string& reason) {
    const std::string refusal = words::cannot_serve(request_.device, request_.origin, reason);
    if (!request_.fallback) throw Error(ErrorCode::device, "{} {}", refusal, words::fallback_forbidden());
    result_.notes.push_back({LogLevel::warning, refusal + " " + words::falls_back()});
    open_cpu(type_for_fallback(the_cpu(catalogue_), request_.compute_type));
    result_.why = words::fallback_from(request_.device, reason);
    result_.line = words::using_cpu(cpu_details(*result_.backend), result_.backend->compute_type());
  }

  // Opens the device, or says why it cannot be used.
  std::optional<Finding> try_device(const Device& device) {
    if (device.obstacle) return device.obstacle;
    if (const auto missing = missing_kernels(backends_, device)) return missing;
    const ComputeType type = choose_compute_type(device, request_.compute_type);
    try {
      auto backend = find_backend(backends_, device.kind)->open(device, type, request_.threads);
      if (auto distrust = trust_check_(device, *backend)) return distrust;
      result_.backend = std::move(backend);
      return std::nullopt;
    } catch (const Error& error) {
      const bool memory = error.code() == ErrorCode::out_of_memory;
      return Finding{memory ? FindingCode::out_of_memory : FindingCode::feature_missing, device.name,
                     words::open_failed(error.what())};
    }
  }

  void take_gpu(const Device& device, std::string why) {
    result_.device = device;
    result_.why = std::move(why);
    result_.line = words::using_gpu(device, result_.backend->compute_type());
  }

  void open_cpu() { open_cpu(request_.compute_type); }
  void open_cpu(ComputeType asked) {
    result_.device = the_cpu(catalogue_);
    const BackendEntry* entry = find_backend(backends_, DeviceKind::cpu);
    if (entry == nullptr) throw Error(ErrorCode::internal, "this build cannot compute on the CPU");
    result_.backend =
        entry->open(result_.device, choose_compute_type(result_.device, asked), request_.threads);
  }

  const DeviceRequest& request_;
  const Catalogue& catalogue_;
  std::span<const BackendEntry> backends_;
  TrustCheck trust_check_;
  OpenedDevice result_;
};

}  // namespace

DeviceName parse_device_name(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  if (text == "auto") return {};
  const auto known =
      std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& n) { return n.first == kind; });
  if (known == std::end(kNames)) throw Error(ErrorCode::usage, "{}", words::unknown_device(text));
  if (colon == std::string_view::npos) return {known->second, ""};
  const std::string_view which = text.substr(colon + 1);
  if (!is_index(which) && !is_uuid_start(which))
    throw Error(ErrorCode::usage, "{}", words::bad_selector(text));
  return {known->second, std::string(which)};
}

OpenedDevice open_device(const DeviceRequest& request, const Catalogue& catalogue,
                         std::span<const BackendEntry> backends, TrustCheck trust_check) {
  return Opening(request, catalogue, backends, trust_check).run();
}

OpenedDevice open_cpu(const DeviceRequest& request) {
  const Catalogue catalogue{{cpu_device()}, {}};
  DeviceRequest on_cpu = request;
  on_cpu.device = "cpu";
  on_cpu.compute_type = type_for_fallback(catalogue.devices.front(), request.compute_type);
  return open_device(on_cpu, catalogue, built_in_backends(),
                     [](const Device&, Backend&) { return std::optional<Finding>(); });
}

}  // namespace sotto
