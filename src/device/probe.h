#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "device/catalogue.h"
#include "device/probe_report.h"

namespace sotto {

struct ProbeOptions {
  std::chrono::milliseconds timeout{5000};  // for each driver library
  bool refresh = false;                     // ask the drivers again although the answer is known
};

// One driver library that was asked, in a child process or earlier.
struct ProbeAttempt {
  std::filesystem::path library;  // as it was found, links not resolved
  bool from_cache = false;
  ProbeReport report;
  // Why this library is of no use: probe_hung, probe_crashed, comgr_missing, driver_too_old. A library that
  // answers properly but counts no device has none; what it said is in report.error.
  std::optional<Finding> finding;
};

struct ProbeResult {
  DeviceKind kind = DeviceKind::cpu;
  std::vector<ProbeAttempt> attempts;  // in the order of trying; empty: no driver library is installed
  std::optional<size_t> chosen;        // the attempt whose library reports devices
  std::string problem;                 // why nothing could be asked: the helper program is missing

  const ProbeAttempt* serving() const noexcept { return chosen ? &attempts[*chosen] : nullptr; }
};

// Asks the drivers of a kind (cuda, rocm, vulkan) for their devices. Each library is asked in a child process
// with a time limit, so that neither a crash nor a hang reaches the caller; libraries are tried until one
// reports a device. Answers are kept in the user's cache folder for as long as library, hardware and relevant
// environment stay the same, so memory_free may be old. Never throws for what a driver does.
ProbeResult probe(DeviceKind kind, const ProbeOptions& options = {});

}  // namespace sotto
