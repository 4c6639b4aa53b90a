#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "device/catalogue.h"
#include "device/doctor.h"

// Every word that the device layer says to people is in messages.cpp, so that it can be read, corrected and
// translated in one place; when and about what it is said is decided elsewhere.
namespace sotto {

struct FindingWords {
  FindingCode code;
  std::string_view id;        // stable; also the section of docs/gpu.md: "driver-too-old"
  std::string_view sentence;  // what is the matter, without its full stop; {} is the finding's subject
  std::string_view remedy;    // what to do next; one or two full sentences
};

std::span<const FindingWords> finding_words() noexcept;  // one entry for each code
const FindingWords& words_of(FindingCode code);

std::string finding_sentence(const Finding& finding);  // with the detail, with a full stop
std::string finding_link(FindingCode code);            // "docs/gpu.md#driver-too-old"
std::string explain(const Finding& finding);           // sentence, remedy and link

// "AMD Radeon RX 5700 XT (RDNA 1)".
std::string title_of(const Device& device);

namespace words {

// --- the one line that says what happened ---
std::string using_gpu(const Device& device, ComputeType type);
std::string using_cpu(std::string_view cpu, ComputeType type);  // because it was asked for
std::string no_gpu_using_cpu(std::string_view cpu, ComputeType type);

// --- why a device was not taken ---
std::string passed_over(const Device& device);  // auto, with its obstacle
std::string slower_here(const Device& device);  // auto, by its timing
std::string cannot_serve(std::string_view asked, std::string_view origin, std::string_view reason);
std::string gave_up(const Device& device, std::string_view reason);  // in the middle of the work
std::string falls_back();                                            // after cannot_serve
std::string fallback_forbidden();                                    // after cannot_serve
std::string no_device_of_kind(DeviceKind kind, const std::vector<Finding>& findings);
std::string no_such_device(std::string_view asked, const std::vector<std::string>& there);
std::string unknown_device(std::string_view asked);
std::string bad_selector(std::string_view asked);
std::string no_kernels_in_build(std::string_view kinds);
std::string open_failed(std::string_view reason);

// --- what was seen, as the detail of a finding ---
std::string bound_to(std::string_view kernel_driver);
std::string belongs_to(std::string_view group);
std::string counts_none(std::string_view gpu);
std::string inside_container(std::string_view container);  // empty outside of one

// --- why a device was taken ---
std::string chosen_by(std::string_view origin);
std::string best_of_all();
std::string measured(const DeviceTiming& timing);
std::string cpu_is_faster(const Device& slower);
std::string only_cpu();
std::string fallback_from(std::string_view asked, std::string_view reason);

// --- compute types ---
std::string type_not_supported(const Device& device, ComputeType asked);

// --- status of a device in a list ---
std::string usable();
std::string usable_when_asked();  // software devices

// --- the self-test and the doctor ---
std::string self_test_figures(ComputeType type, const SelfTestResult& result);
std::string_view gate_id(GateId gate);     // stable: "hardware"
std::string_view gate_title(GateId gate);  // "Hardware seen"
std::string_view gate_tried(GateId gate);
std::string gate_closed();
std::string next_step(FindingCode code);  // the remedy and the link
std::string examining(const Device& device);
std::string cpu_seen(const Device& device);
std::string cpu_needs_no_driver();
std::string software_device();
std::string libraries(const ProbeResult* probe);
std::string counted_as(const Device& device);
std::string memory_seen(const Device& device);
std::string kernels_seen(std::string_view backend, ComputeType type);
std::string matrix_figures(double identity_error, double random_error, double bound);
std::string cpu_speed(double seconds);
std::string speed_against_cpu(double seconds, double cpu_seconds);
std::string slower_than_cpu();

// --- where a setting came from ---
std::string origin_default();
std::string origin_argument();

}  // namespace words
}  // namespace sotto
