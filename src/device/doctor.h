#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "device/detect.h"
#include "device/self_test.h"

namespace sotto {

// The gates that a device has to pass, in this order; one that fails closes those behind it.
enum class GateId {
  hardware,       // the system lists it
  driver,         // a driver library for it is installed
  runtime,        // the library opens and answers
  counted,        // it reports the device
  memory,         // memory on it can be had
  kernels,        // this build holds kernels for its architecture
  matrix,         // a small matrix product is right: A x I = A, then random numbers against a sum in double
  transcription,  // the built-in clip gives the text and the logits that the CPU gives
  speed,          // against the CPU
};
inline constexpr int kGates = 9;

enum class GateStatus { passed, failed, skipped };

struct Gate {
  GateId id{};
  GateStatus status = GateStatus::skipped;
  std::string tried;
  std::string seen;
  std::string next;  // what to do; empty where nothing is to be done
};

struct Examination {
  Device device;
  std::vector<Gate> gates;  // all of them, in order
};

struct DoctorReport {
  std::vector<Examination> devices;  // in the catalogue's order
  std::vector<Finding> findings;     // the catalogue's
};

// What comes out of the transcriptions is remembered in the cache, so that a device that was mended is used
// again.
DoctorReport examine(const Detection& detection, std::span<const BackendEntry> backends,
                     const SelfTestCache& cache, int threads,
                     FunctionRef<void(const std::string& step)> on_step);

// The gate at which this finding stops a device.
GateId gate_of(FindingCode code) noexcept;

// --- the gates that compute (doctor_gates.cpp) ---
struct MatrixCheck {
  double identity_error = 0;  // relative, of A x I against A
  double random_error = 0;    // relative, against sums in double
  double bound = 0;
  bool passed() const noexcept { return identity_error <= bound && random_error <= bound; }
};
MatrixCheck check_matrix_product(Backend& backend);

}  // namespace sotto
