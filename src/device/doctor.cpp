#include "device/doctor.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "device/compute_types.h"
#include "device/messages.h"

namespace sotto {
namespace {

constexpr size_t kMemoryTrial = size_t{16} << 20;  // elements: enough to be refused where there is no room

const ProbeResult* probe_of(const Detection& detection, DeviceKind kind) {
  for (const ProbeResult& probe : detection.probes)
    if (probe.kind == kind) return &probe;
  return nullptr;
}

// One device on its way through the gates.
class Examiner {
 public:
  Examiner(const Detection& detection, std::span<const BackendEntry> backends, const SelfTestCache& cache,
           int threads, FunctionRef<void(const std::string&)> on_step)
      : detection_(detection), backends_(backends), cache_(cache), threads_(threads), on_step_(on_step) {}

  Examination run(const Device& device) {
    on_step_(words::examining(device));
    examination_ = {device, {}};
    open_ = true;
    const ProbeResult* probe = probe_of(detection_, device.kind);
    if (device.kind == DeviceKind::cpu) {
      pass(GateId::hardware, words::cpu_seen(device));
      skip(GateId::driver, words::cpu_needs_no_driver());
      skip(GateId::runtime, words::cpu_needs_no_driver());
      skip(GateId::counted, words::cpu_needs_no_driver());
    } else {
      told(GateId::hardware, device.software ? words::software_device() : title_of(device));
      told(GateId::driver, words::libraries(probe));
      told(GateId::runtime, device.driver);
      told(GateId::counted, words::counted_as(device));
    }
    compute(device);
    return std::move(examination_);
  }

 private:
  void add(GateId id, GateStatus status, std::string seen, std::string next = {}) {
    examination_.gates.push_back(
        {id, status, std::string(words::gate_tried(id)), std::move(seen), std::move(next)});
    if (status == GateStatus::failed) open_ = false;
  }
  void pass(GateId id, std::string seen) { add(id, GateStatus::passed, std::move(seen)); }
  void skip(GateId id, std::string why) { add(id, GateStatus::skipped, std::move(why)); }
  void fail(GateId id, const Finding& finding) {
    add(id, GateStatus::failed, finding_sentence(finding), words::next_step(finding.code));
  }

  // A gate that detection went through already: the obstacle says whether it stopped here.
  bool told(GateId id, std::string seen) {
    const auto& obstacle = examination_.device.obstacle;
    if (!open_) {
      skip(id, words::gate_closed());
    } else if (obstacle && gate_of(obstacle->code) == id) {
      fail(id, *obstacle);
    } else {
      pass(id, std::move(seen));
    }
    return open_;
  }

  void skip_rest() {
    for (int id = static_cast<int>(examination_.gates.size()); id < kGates; ++id)
      skip(static_cast<GateId>(id), words::gate_closed());
  }

  void compute(const Device& device) {
    if (device.obstacle || !open_) {
      told(GateId::memory, words::memory_seen(device));
      told(GateId::kernels, "");
      skip_rest();
      return;
    }
    std::unique_ptr<Backend> backend;
    try {
      const BackendEntry* entry = find_backend(backends_, device.kind);
      backend = entry->open(device, choose_compute_type(device, ComputeType::automatic), threads_);
      backend->allocate(kMemoryTrial);
      pass(GateId::memory, words::memory_seen(device));
      pass(GateId::kernels, words::kernels_seen(backend->description(), backend->compute_type()));
      check_matrix(*backend);
      if (open_) check_transcription(device, *backend);
      if (open_) check_speed(device, *backend);
    } catch (const Error& error) {
      const auto gate = static_cast<GateId>(examination_.gates.size());
      const FindingCode code = gate == GateId::memory    ? FindingCode::out_of_memory
                               : gate == GateId::kernels ? FindingCode::feature_missing
                                                         : FindingCode::self_test_failed;
      fail(gate, {code, device.name, error.what()});
    }
    skip_rest();
  }

  void check_matrix(Backend& backend) {
    const MatrixCheck check = check_matrix_product(backend);
    const std::string seen = words::matrix_figures(check.identity_error, check.random_error, check.bound);
    if (check.passed())
      pass(GateId::matrix, seen);
    else
      fail(GateId::matrix, {FindingCode::self_test_failed, examination_.device.name, seen});
  }

  void check_transcription(const Device& device, Backend& backend) {
    SelfTestResult result = test().run(backend);
    if (device.kind != DeviceKind::cpu) {
      if (result.passed) timing_ = result.timing = test().time(backend);
      cache_.store(device, backend.compute_type(), result);
    }
    if (result.passed)
      pass(GateId::transcription, words::self_test_figures(backend.compute_type(), result));
    else
      fail(GateId::transcription, distrust(device, backend.compute_type(), result));
  }

  void check_speed(const Device& device, Backend& backend) {
    if (device.kind == DeviceKind::cpu) {
      pass(GateId::speed, words::cpu_speed(test().encode_seconds(backend)));
      return;
    }
    const std::string seen = words::speed_against_cpu(timing_->seconds, timing_->cpu_seconds);
    if (!timing_->slower_than_cpu())
      pass(GateId::speed, seen);
    else
      add(GateId::speed, GateStatus::failed, seen, words::slower_than_cpu());
  }

  const SelfTest& test() {
    if (!test_) test_ = std::make_unique<SelfTest>();
    return *test_;
  }

  const Detection& detection_;
  std::span<const BackendEntry> backends_;
  const SelfTestCache& cache_;
  int threads_;
  FunctionRef<void(const std::string&)> on_step_;
  Examination examination_;
  bool open_ = true;
  std::optional<DeviceTiming> timing_;  // of the device that passed the transcription
  std::unique_ptr<SelfTest> test_;      // made once, for all devices
};

}  // namespace

GateId gate_of(FindingCode code) noexcept {
  switch (code) {
    case FindingCode::no_gpu:
      return GateId::hardware;
    case FindingCode::no_driver:
    case FindingCode::probe_unavailable:
      return GateId::driver;
    case FindingCode::driver_too_old:
    case FindingCode::comgr_missing:
    case FindingCode::probe_hung:
    case FindingCode::probe_crashed:
      return GateId::runtime;
    case FindingCode::runtime_sees_nothing:
    case FindingCode::no_access:
    case FindingCode::container_without_gpu:
      return GateId::counted;
    case FindingCode::out_of_memory:
      return GateId::memory;
    case FindingCode::no_kernels:
    case FindingCode::feature_missing:
    case FindingCode::software_only:
      return GateId::kernels;
    case FindingCode::self_test_failed:
      return GateId::transcription;
  }
  return GateId::kernels;
}

DoctorReport examine(const Detection& detection, std::span<const BackendEntry> backends,
                     const SelfTestCache& cache, int threads, FunctionRef<void(const std::string&)> on_step) {
  Examiner examiner(detection, backends, cache, threads, on_step);
  DoctorReport report;
  for (const Device& device : detection.catalogue.devices) report.devices.push_back(examiner.run(device));
  report.findings = detection.catalogue.findings;
  return report;
}

}  // namespace sotto
