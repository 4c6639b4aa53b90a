#include "device/messages.h"

#include <fmt/format.h>

#include "base/error.h"

namespace sotto {
namespace {

constexpr FindingWords kFindings[] = {
    {FindingCode::no_gpu, "no-gpu", "No GPU that can compute was found",
     "The CPU does the work. If this machine has a GPU, look whether the system sees it: "
     "lspci -nn | grep -Ei 'vga|3d|display'."},
    {FindingCode::no_driver, "no-driver", "{} is in this machine, but no driver library for it was found",
     "Install its driver: for NVIDIA the distribution's NVIDIA driver package, for AMD the HIP runtime "
     "(libamdhip64) or Mesa's Vulkan driver, for Intel Mesa's Vulkan driver."},
    {FindingCode::driver_too_old, "driver-too-old", "The driver of {} is too old",
     "Install a newer driver, restart the machine, and run sotto devices --refresh."},
    {FindingCode::runtime_sees_nothing, "runtime-sees-nothing",
     "The runtime {} reports no device although the system lists a GPU",
     "The runtime and the kernel driver do not fit together: install the runtime of the driver's own "
     "version, "
     "and remove HIP_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES or CUDA_VISIBLE_DEVICES if they hide the GPU."},
    {FindingCode::comgr_missing, "comgr-missing", "AMD's code-object manager (amd_comgr) is missing for {}",
     "Install it beside the HIP runtime: the package is libamd-comgr2 on Debian and Ubuntu, comgr in AMD's "
     "own "
     "repository."},
    {FindingCode::no_kernels, "no-kernels", "This build of Sotto holds no GPU kernels that run on {}",
     "Install the driver that is named, if one is; else use --device cpu, or a build of Sotto that includes "
     "kernels for it."},
    {FindingCode::no_access, "no-access", "This user may not open {}",
     "Add the user to the groups that own the device files (sudo usermod -aG render,video $USER), then log "
     "out "
     "and in again."},
    {FindingCode::container_without_gpu, "container-without-gpu",
     "This is a container that was given no GPU ({})",
     "Start it with the GPU: --gpus all (NVIDIA), --device /dev/kfd --device /dev/dri (AMD), "
     "--device /dev/dri (Vulkan)."},
    {FindingCode::out_of_memory, "out-of-memory", "{} has not enough free memory",
     "Close other programs that use the GPU, choose a smaller model, or try --compute-type int8."},
    {FindingCode::probe_hung, "probe-hung", "The driver {} did not answer in time",
     "Restart the machine or reinstall the driver; a slow but healthy driver gets more time with "
     "--probe-timeout. Then run sotto devices --refresh."},
    {FindingCode::probe_crashed, "probe-crashed", "The driver {} crashed while it was asked for its devices",
     "Reinstall or update the driver, then run sotto devices --refresh."},
    {FindingCode::self_test_failed, "self-test-failed", "{} computes wrong results",
     "It is not used, because its text could not be trusted. Update its driver, then run sotto doctor."},
    {FindingCode::software_only, "software-only", "{} is a Vulkan driver that computes on the CPU",
     "It is used only when asked for by name (--device vulkan); Sotto's own CPU mode is faster."},
    {FindingCode::feature_missing, "feature-missing", "{} lacks something that the kernels need",
     "Update the driver; if the chip itself lacks it, use --device cpu or another way to the same GPU."},
    {FindingCode::probe_unavailable, "probe-unavailable", "The drivers could not be asked for their devices",
     "Reinstall Sotto: its helper program sotto-probe belongs beside it."},
};

struct GateWords {
  GateId gate;
  std::string_view id, title, tried;
};

constexpr GateWords kGateWords[] = {
    {GateId::hardware, "hardware", "Hardware seen", "looked at the PCI bus and the kernel's list of GPUs"},
    {GateId::driver, "driver", "Driver present", "looked for driver libraries where the system keeps them"},
    {GateId::runtime, "runtime", "Runtime opens",
     "opened the library in a child process and asked for its version"},
    {GateId::counted, "counted", "Device counted", "asked the runtime for its devices"},
    {GateId::memory, "memory", "Memory allocated", "asked the device for memory"},
    {GateId::kernels, "kernels", "Kernels for it", "looked for kernels of this architecture in this build"},
    {GateId::matrix, "matrix", "Matrix product",
     "multiplied A x I, then random numbers, and checked against sums in double"},
    {GateId::transcription, "transcription", "Transcription",
     "transcribed the built-in clip and compared text and numbers with the CPU's in float32"},
    {GateId::speed, "speed", "Speed", "timed the encoder of the built-in model"},
};

const GateWords& gate_words(GateId gate) {
  for (const GateWords& words : kGateWords)
    if (words.gate == gate) return words;
  throw Error(ErrorCode::internal, "the gate {} has no words", static_cast<int>(gate));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

std::string kind_for_people(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cuda:
      return "NVIDIA (cuda)";
    case DeviceKind::rocm:
      return "AMD (rocm)";
    case DeviceKind::metal:
      return "Apple (metal)";
    case DeviceKind::vulkan:
      return "Vulkan";
    case DeviceKind::cpu:
      return "CPU";
  }
  return "unknown";
}

}  // namespace

std::span<const FindingWords> finding_words() noexcept {
  return kFindings;
}

const FindingWords& words_of(FindingCode code) {
  for (const FindingWords& words : kFindings)
    if (words.code == code) return words;
  throw Error(ErrorCode::internal, "the finding {} has no words", static_cast<int>(code));
}

std::string finding_sentence(const Finding& finding) {
  const std::string subject = finding.subject.empty() ? "this device" : finding.subject;
  std::string text = fmt::format(fmt::runtime(words_of(finding.code).sentence), subject);
  if (!finding.detail.empty()) text += fmt::format(": {}", finding.detail);
  if (text.back() != '.') text += '.';
  return text;
}

std::string finding_link(FindingCode code) {
  return fmt::format("docs/gpu.md#{}", words_of(code).id);
}

std::string explain(const Finding& finding) {
  return fmt::format("{} {} See {}", finding_sentence(finding), words_of(finding.code).remedy,
                     finding_link(finding.code));
}

std::string title_of(const Device& device) {
  const std::string name = device.name.empty() ? kind_for_people(device.kind) + " device" : device.name;
  return device.generation.empty() ? name : fmt::format("{} ({})", name, device.generation);
}

namespace words {

std::string using_gpu(const Device& device, ComputeType type) {
  return fmt::format("Detected {}: using GPU acceleration ({}, {})", title_of(device), device.id(),
                     compute_type_name(type));
}

std::string using_cpu(std::string_view cpu, ComputeType type) {
  return fmt::format("Using CPU mode ({}, {})", cpu, compute_type_name(type));
}

std::string no_gpu_using_cpu(std::string_view cpu, ComputeType type) {
  return fmt::format("No supported GPU found: using CPU mode ({}, {})", cpu, compute_type_name(type));
}

std::string passed_over(const Device& device) {
  return fmt::format("Detected {}, which cannot be used ({}). {}", title_of(device), device.id(),
                     explain(*device.obstacle));
}

std::string slower_here(const Device& device) {
  return fmt::format(
      "Detected {}, which is not used because the CPU was measured to be faster here ({}). --device {} uses "
      "it all the same. See docs/gpu.md#slow",
      title_of(device), speed_against_cpu(device.timing->seconds, device.timing->cpu_seconds), device.id());
}

std::string cannot_serve(std::string_view asked, std::string_view origin, std::string_view reason) {
  const std::string by = origin.empty() ? "" : fmt::format(" (asked for by {})", origin);
  return fmt::format("The device '{}'{} cannot be used. {}", asked, by, reason);
}

std::string gave_up(const Device& device, std::string_view reason) {
  return fmt::format("{} ({}) cannot go on: {}. {}", title_of(device), device.id(), reason, falls_back());
}

std::string falls_back() {
  return "Going on with the CPU.";
}

std::string fallback_forbidden() {
  return "Stopping, because --no-fallback was given.";
}

std::string no_device_of_kind(DeviceKind kind, const std::vector<Finding>& findings) {
  std::string text = fmt::format("No {} device was found.", kind_for_people(kind));
  for (const Finding& finding : findings) text += fmt::format(" {}", explain(finding));
  return text;
}

std::string no_such_device(std::string_view asked, const std::vector<std::string>& there) {
  return fmt::format("There is no '{}' in this machine; there is: {}.", asked, fmt::join(there, ", "));
}

std::string unknown_device(std::string_view asked) {
  return fmt::format(
      "there is no device '{}'; there are auto, cuda, rocm (or hip), metal (or mps), vulkan and cpu, each "
      "but auto "
      "also with an index or the beginning of a UUID: cuda:1",
      asked);
}

std::string bad_selector(std::string_view asked) {
  return fmt::format(
      "the device '{}' should name its kind, a colon, and an index or at least 8 hexadecimal digits of its "
      "UUID: "
      "cuda:1, cuda:3f2a91c0",
      asked);
}

std::string no_kernels_in_build(std::string_view kinds) {
  return fmt::format("it was built for {} only", kinds);
}

std::string open_failed(std::string_view reason) {
  return fmt::format("it could not be opened: {}", reason);
}

std::string bound_to(std::string_view kernel_driver) {
  return fmt::format("the kernel has bound it to {}", kernel_driver);
}

std::string belongs_to(std::string_view group) {
  return group.empty() ? "" : fmt::format("it belongs to the group {}", group);
}

std::string counts_none(std::string_view gpu) {
  return fmt::format("it counts 0 devices, but {} is there", gpu);
}

std::string inside_container(std::string_view container) {
  return container.empty()
             ? ""
             : fmt::format("inside a container ({}), which sees only what it was given", container);
}

std::string chosen_by(std::string_view origin) {
  return fmt::format("asked for by {}", origin.empty() ? "the caller" : origin);
}

std::string best_of_all() {
  return "the best device that can be used";
}

std::string measured(const DeviceTiming& timing) {
  return fmt::format("measured here: {:.1f} times as fast as the CPU", timing.cpu_seconds / timing.seconds);
}

std::string cpu_is_faster(const Device& slower) {
  return fmt::format("measured here: {:.1f} times as fast as {}",
                     slower.timing->seconds / slower.timing->cpu_seconds, title_of(slower));
}

std::string only_cpu() {
  return "no supported GPU was found";
}

std::string fallback_from(std::string_view asked, std::string_view reason) {
  return fmt::format("instead of '{}': {}", asked, reason);
}

std::string type_not_supported(const Device& device, ComputeType asked) {
  std::vector<std::string_view> names;
  for (const ComputeType type : device.compute_types) names.push_back(compute_type_name(type));
  return fmt::format("{} ({}) cannot compute in {}; it has: {}", title_of(device), device.id(),
                     compute_type_name(asked), fmt::join(names, ", "));
}

std::string usable() {
  return "ready";
}

std::string usable_when_asked() {
  return "ready, when asked for by name";
}

std::string self_test_figures(ComputeType type, const SelfTestResult& result) {
  std::string text = fmt::format("in {} its numbers are {:.2g} off the CPU's (allowed: {:.2g})",
                                 compute_type_name(type), result.error, result.bound);
  return result.text == result.expected ? fmt::format("{}, and it heard '{}'", text, trimmed(result.text))
                                        : fmt::format("{}, and it heard '{}' instead of '{}'", text,
                                                      trimmed(result.text), trimmed(result.expected));
}

std::string_view gate_id(GateId gate) {
  return gate_words(gate).id;
}

std::string_view gate_title(GateId gate) {
  return gate_words(gate).title;
}

std::string_view gate_tried(GateId gate) {
  return gate_words(gate).tried;
}

std::string gate_closed() {
  return "not tried: an earlier step failed";
}

std::string next_step(FindingCode code) {
  return fmt::format("{} See {}", words_of(code).remedy, finding_link(code));
}

std::string examining(const Device& device) {
  return fmt::format("examining {} ({})", title_of(device), device.id());
}

std::string cpu_seen(const Device& device) {
  return fmt::format("{}, {}", device.name, device.architecture);
}

std::string cpu_needs_no_driver() {
  return "not needed for the CPU";
}

std::string software_device() {
  return "a driver that computes on the CPU";
}

std::string libraries(const ProbeResult* probe) {
  std::vector<std::string> paths;
  if (probe != nullptr)
    for (const ProbeAttempt& attempt : probe->attempts) paths.push_back(attempt.library.string());
  return paths.empty() ? "none" : fmt::format("{}", fmt::join(paths, ", "));
}

std::string counted_as(const Device& device) {
  return device.uuid.empty() ? device.id() : fmt::format("{}, UUID {}", device.id(), device.uuid);
}

std::string memory_seen(const Device& device) {
  constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
  return fmt::format("{:.1f} of {:.1f} GiB are free", static_cast<double>(device.memory_free) / kGibibyte,
                     static_cast<double>(device.memory_total) / kGibibyte);
}

std::string kernels_seen(std::string_view backend, ComputeType type) {
  return fmt::format("{}, in {}", backend, compute_type_name(type));
}

std::string matrix_figures(double identity_error, double random_error, double bound) {
  return fmt::format("A x I is {:.2g} off, a random product {:.2g} (allowed: {:.2g})", identity_error,
                     random_error, bound);
}

std::string cpu_speed(double seconds) {
  return fmt::format("{:.0f} ms for the built-in model to listen to a window of 30 s", seconds * 1e3);
}

std::string speed_against_cpu(double seconds, double cpu_seconds) {
  return fmt::format("{:.1f} ms a window, the CPU {:.1f} ms: {:.1f} times as fast", seconds * 1e3,
                     cpu_seconds * 1e3, cpu_seconds / seconds);
}

std::string slower_than_cpu() {
  return "Small models may be faster on the CPU: compare with --device cpu. See docs/gpu.md#slow";
}

std::string origin_default() {
  return "default";
}

std::string origin_argument() {
  return "argument";
}

}  // namespace words
}  // namespace sotto
