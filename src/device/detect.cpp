#include "device/detect.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "backend/cpu/cpu_backend.h"
#include "device/compute_types.h"
#include "device/gpu_generations.h"
#include "device/messages.h"
#include "device/pci_names.h"
#include "platform/cpu_features.h"
#include "platform/system_memory.h"

namespace sotto {
namespace {

// A GPU that the kernel lists, whether or not a driver library knows it.
struct SeenGpu {
  DeviceKind kind;  // the best way to reach it
  std::string address, name, architecture, generation, kernel_driver;
  uint64_t memory_total = 0, memory_used = 0;
};

DeviceKind natural_kind(uint16_t vendor) {
  if (vendor == kNvidiaVendor) return DeviceKind::cuda;
  if (vendor == kAmdVendor) return DeviceKind::rocm;
  return DeviceKind::vulkan;
}

std::vector<SeenGpu> seen_gpus(const Hardware& hardware) {
  std::vector<SeenGpu> gpus;
  for (const PciDisplay& display : hardware.displays)
    if (display.can_compute())
      gpus.push_back({natural_kind(display.vendor), display.address, display.name, display.architecture,
                      display.generation, display.kernel_driver, display.memory_total, display.memory_used});
  for (const KfdNode& node : hardware.kfd_nodes) {
    const auto known = std::find_if(gpus.begin(), gpus.end(), [&](const SeenGpu& gpu) {
      return gpu.kind == DeviceKind::rocm && (node.pci_address.empty() || gpu.address == node.pci_address);
    });
    if (known == gpus.end()) {
      gpus.push_back({DeviceKind::rocm, node.pci_address, pci_name(kAmdVendor, node.device).name,
                      node.architecture, std::string(generation_name(node.architecture)), "amdgpu"});
      continue;
    }
    known->architecture = node.architecture;  // the kernel asked the chip: better than a table of ids
    known->generation = generation_name(node.architecture);
  }
  return gpus;
}

std::string driver_text(const ProbeResult& probe, const ProbedDevice& device, const Hardware& hardware) {
  const ProbeAttempt& attempt = *probe.serving();
  const std::string file = attempt.library.filename().string();
  switch (probe.kind) {
    case DeviceKind::cuda:
      return hardware.nvidia_module.empty() ? fmt::format("CUDA {} ({})", attempt.report.version, file)
                                            : fmt::format("NVIDIA {}, CUDA {} ({})", hardware.nvidia_module,
                                                          attempt.report.version, file);
    case DeviceKind::rocm:
      return fmt::format("HIP {} ({})", attempt.report.version, file);
    default:
      return device.driver.empty() ? fmt::format("Vulkan {} ({})", attempt.report.version, file)
                                   : fmt::format("{}, Vulkan {}", device.driver, attempt.report.version);
  }
}

// Apple's GPUs, under the name that their owners know.
bool is_metal(const ProbedDevice& device) {
  return device.driver.find("MoltenVK") != std::string::npos;
}

std::vector<ComputeType> types_of(DeviceKind kind, const Device& device, const ProbedDevice& probed) {
  if (kind == DeviceKind::cuda) return cuda_compute_types(device.architecture);
  if (kind == DeviceKind::rocm) return rocm_compute_types(device.architecture);
  return vulkan_compute_types(probed.float16_arithmetic && probed.float16_storage);
}

Finding problem_finding(const std::string& name, const DriverError& problem) {
  const auto mentions = [&](std::string_view word) {
    return problem.step.find(word) != std::string::npos || problem.text.find(word) != std::string::npos;
  };
  const bool memory =
      mentions("Alloc") || mentions("Malloc") || mentions("OUT_OF_MEMORY") || mentions("emory");
  return {memory ? FindingCode::out_of_memory : FindingCode::feature_missing, name,
          fmt::format("{}: {}", problem.step, problem.text)};
}

// Why a GPU that the kernel lists did not become a device of its kind.
Finding absence(const SeenGpu& gpu, const ProbeResult* probe, const Hardware& hardware) {
  if (probe == nullptr || !probe->problem.empty())
    return {FindingCode::probe_unavailable, gpu.name, probe == nullptr ? "" : probe->problem};
  const auto no_file_of = [&](std::string_view start) {
    return std::none_of(hardware.device_files.begin(), hardware.device_files.end(),
                        [&](const DeviceFile& file) { return file.path.substr(0, start.size()) == start; });
  };
  const std::string_view needed = gpu.kind == DeviceKind::cuda   ? "/dev/nvidia"
                                  : gpu.kind == DeviceKind::rocm ? "/dev/kfd"
                                                                 : "/dev/dri/render";
  if (!hardware.container.empty() && no_file_of(needed) && no_file_of("/dev/dxg"))
    return {FindingCode::container_without_gpu, hardware.container,
            fmt::format("{} cannot be reached", gpu.name)};
  if (probe->attempts.empty()) {
    const bool foreign = gpu.kernel_driver == "nouveau" || gpu.kernel_driver == "vfio-pci";
    return {FindingCode::no_driver, gpu.name, foreign ? words::bound_to(gpu.kernel_driver) : ""};
  }
  for (const DeviceFile& file : hardware.device_files)
    if (!file.accessible && file.path.substr(0, needed.size()) == needed)
      return {FindingCode::no_access, file.path, words::belongs_to(file.group)};
  for (const ProbeAttempt& attempt : probe->attempts)
    if (attempt.finding) return *attempt.finding;
  const ProbeAttempt& last = probe->attempts.front();
  return {FindingCode::runtime_sees_nothing, last.library.filename().string(),
          last.report.error ? fmt::format("{}: {}", last.report.error->step, last.report.error->text)
                            : words::counts_none(gpu.name)};
}

// Lower is better.
int rank(const Device& device) {
  if (device.kind == DeviceKind::vulkan) return 10 + (device.software ? 2 : device.integrated ? 1 : 0);
  return device.kind == DeviceKind::cpu ? 20 : static_cast<int>(device.kind);
}

class CatalogueMaker {
 public:
  CatalogueMaker(const Hardware& hardware, std::span<const ProbeResult> probes,
                 std::span<const BackendEntry> backends)
      : hardware_(hardware), probes_(probes), backends_(backends), seen_(seen_gpus(hardware)) {}

  Catalogue run() {
    for (const ProbeResult& probe : probes_) add_reported(probe);
    for (const SeenGpu& gpu : seen_) add_unreported(gpu);
    for (const ProbeResult& probe : probes_) add_findings(probe);
    std::stable_sort(catalogue_.devices.begin(), catalogue_.devices.end(),
                     [](const Device& a, const Device& b) { return rank(a) < rank(b); });
    const bool any = std::any_of(catalogue_.devices.begin(), catalogue_.devices.end(),
                                 [](const Device& device) { return !device.software; });
    if (!any)
      catalogue_.findings.push_back({FindingCode::no_gpu, "", words::inside_container(hardware_.container)});
    catalogue_.devices.push_back(cpu_device());
    return std::move(catalogue_);
  }

 private:
  const SeenGpu* seen_at(std::string_view address) const {
    for (const SeenGpu& gpu : seen_)
      if (!address.empty() && gpu.address == address) return &gpu;
    return nullptr;
  }

  void add_reported(const ProbeResult& probe) {
    if (probe.serving() == nullptr) return;
    for (const ProbedDevice& probed : probe.serving()->report.devices) {
      Device device;
      device.kind = is_metal(probed) ? DeviceKind::metal : probe.kind;
      device.index = probed.index;
      device.uuid = probed.uuid;
      device.name = probed.name;
      device.architecture = probed.architecture.substr(0, probed.architecture.find(':'));
      if (const SeenGpu* gpu = seen_at(probed.pci_address); gpu != nullptr && device.architecture.empty())
        device.architecture = gpu->architecture, device.generation = gpu->generation;
      if (device.generation.empty()) device.generation = generation_name(device.architecture);
      device.memory_total = probed.memory_total;
      device.memory_free = probed.memory_free;
      device.driver = driver_text(probe, probed, hardware_);
      device.library = probe.serving()->library;
      device.driver_version = probe.serving()->report.api_version;
      device.integrated = probed.integrated;
      device.software = probed.software;
      device.compute_types = types_of(probe.kind, device, probed);
      device.obstacle =
          probed.problem ? problem_finding(probed.name, *probed.problem) : missing_kernels(backends_, device);
      reported_addresses_.emplace_back(probe.kind, probed.pci_address);
      catalogue_.devices.push_back(std::move(device));
    }
  }

  // A driver that tells no addresses is taken to have reported all there is of its kind.
  bool is_reported(const SeenGpu& gpu) const {
    return std::any_of(reported_addresses_.begin(), reported_addresses_.end(), [&](const auto& reported) {
      return reported.first == gpu.kind &&
             (reported.second.empty() || gpu.address.empty() || reported.second == gpu.address);
    });
  }

  const ProbeResult* probe_of(DeviceKind kind) const {
    const auto found = std::find_if(probes_.begin(), probes_.end(),
                                    [&](const ProbeResult& probe) { return probe.kind == kind; });
    return found == probes_.end() ? nullptr : &*found;
  }

  void add_unreported(const SeenGpu& gpu) {
    if (is_reported(gpu)) return;
    Device device;
    device.kind = gpu.kind;
    device.index =
        static_cast<int>(std::count_if(catalogue_.devices.begin(), catalogue_.devices.end(),
                                       [&](const Device& other) { return other.kind == gpu.kind; }));
    device.name = gpu.name;
    device.architecture = gpu.architecture;
    device.generation = gpu.generation;
    device.memory_total = gpu.memory_total;
    device.memory_free = gpu.memory_total - std::min(gpu.memory_used, gpu.memory_total);
    device.integrated = is_integrated_architecture(gpu.architecture);
    device.obstacle = absence(gpu, probe_of(gpu.kind), hardware_);
    explained_.push_back(gpu.kind);
    catalogue_.devices.push_back(std::move(device));
  }

  void add_findings(const ProbeResult& probe) {
    if (std::find(explained_.begin(), explained_.end(), probe.kind) == explained_.end())
      for (const ProbeAttempt& attempt : probe.attempts)
        if (attempt.finding) catalogue_.findings.push_back(*attempt.finding);
    for (const Device& device : catalogue_.devices)
      if (device.kind == probe.kind && device.software)
        catalogue_.findings.push_back({FindingCode::software_only, device.name, ""});
  }

  const Hardware& hardware_;
  std::span<const ProbeResult> probes_;
  std::span<const BackendEntry> backends_;
  std::vector<SeenGpu> seen_;
  std::vector<std::pair<DeviceKind, std::string>> reported_addresses_;
  std::vector<DeviceKind> explained_;  // kinds whose silence an obstacle tells of
  Catalogue catalogue_;
};

}  // namespace

Device cpu_device() {
  Device cpu;
  const SystemMemory memory = system_memory();
  cpu.name = cpu_features().name;
  cpu.architecture = cpu_isa_for_people(cpu_isas().front());
  cpu.memory_total = memory.total;
  cpu.memory_free = memory.available;
  cpu.compute_types = cpu_compute_types();
  return cpu;
}

Catalogue make_catalogue(const Hardware& hardware, std::span<const ProbeResult> probes,
                         std::span<const BackendEntry> backends) {
  return CatalogueMaker(hardware, probes, backends).run();
}

std::chrono::milliseconds probe_timeout(const Options& options) {
  return std::chrono::milliseconds(static_cast<int64_t>(options.probe_timeout * 1000));
}

Detection detect_devices(const DetectOptions& options) {
  Detection detection;
  detection.hardware = find_hardware();
  for (const DeviceKind kind : {DeviceKind::cuda, DeviceKind::rocm, DeviceKind::vulkan})
    detection.probes.push_back(probe(kind, {options.probe_timeout, options.refresh}));
  detection.catalogue = make_catalogue(detection.hardware, detection.probes, options.backends);
  return detection;
}

Catalogue find_devices(const DetectOptions& options) {
  return detect_devices(options).catalogue;
}

}  // namespace sotto
