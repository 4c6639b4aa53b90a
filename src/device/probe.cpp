#include "device/probe.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "backend/gpu/cuda_driver.h"
#include "backend/gpu/hip_driver.h"
#include "base/error.h"
#include "device/driver_files.h"
#include "device/probe_cache.h"
#include "device/vulkan_driver.h"
#include "platform/dynamic_library.h"
#include "platform/process.h"

namespace sotto {
namespace {
namespace fs = std::filesystem;

// Beside this library or the running program, as they lie in a build and as they are installed.
fs::path find_helper() {
  if (const char* named = std::getenv("SOTTO_PROBE"); named != nullptr && named[0] != '\0') return named;
  for (const fs::path& home : {this_module().parent_path(), this_program().parent_path()})
    for (const char* place : {"sotto-probe", "../libexec/sotto/sotto-probe", "../bin/sotto-probe"}) {
      fs::path helper = home / place;
      if (this_program().extension() == ".exe")
        helper += ".exe";  // not the ".11" of a program like python3.11
      std::error_code ignored;
      if (!home.empty() && fs::is_regular_file(helper, ignored)) return helper;
    }
  return {};
}

std::string_view helper_word(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::rocm:
      return "hip";
    default:
      return "vulkan";
  }
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_too_old(DeviceKind kind, const ProbeReport& report) {
  if (report.error && report.error->step == kEntryPointsStep) return true;
  if (report.api_version == 0) return false;
  switch (kind) {
    case DeviceKind::cuda:
      return report.api_version < cuda::kOldestVersion;
    case DeviceKind::rocm:
      return report.api_version < hip::kOldestVersion;
    default:
      return report.api_version < vulkan::kOldestVersion;
  }
}

// The library and the kernel's module are of different versions: the newer part waits for a restart or an
// update.
bool is_mismatch(DeviceKind kind, const ProbeReport& report) {
  return kind == DeviceKind::cuda && report.error &&
         (report.error->code == cuda::kSystemDriverMismatch ||
          report.error->code == cuda::kCompatNotSupported);
}

std::optional<Finding> judge(DeviceKind kind, const ProbeAttempt& attempt, std::string_view words) {
  const ProbeReport& report = attempt.report;
  const std::string subject = attempt.library.string();
  const std::string said = report.error ? report.error->text : std::string();
  const bool failed_to_open = report.error && report.error->step == kOpenStep;
  if ((failed_to_open && contains(said, "comgr")) || (report.devices.empty() && contains(words, "comgr")))
    return Finding{FindingCode::comgr_missing, subject, failed_to_open ? said : std::string(words)};
  if (failed_to_open) return Finding{FindingCode::no_driver, subject, said};
  if (is_mismatch(kind, report)) return Finding{FindingCode::driver_too_old, subject, said};
  if (is_too_old(kind, report))
    return Finding{FindingCode::driver_too_old, subject, said.empty() ? "version " + report.version : said};
  return std::nullopt;
}

void interpret(DeviceKind kind, const ChildOutcome& outcome, std::chrono::milliseconds timeout,
               ProbeAttempt& attempt) {
  const std::string subject = attempt.library.string();
  const auto crashed = [&](std::string detail) {
    attempt.finding = {FindingCode::probe_crashed, subject, std::move(detail)};
  };
  if (outcome.timed_out) {
    const double seconds = std::chrono::duration<double>(timeout).count();
    attempt.finding = {FindingCode::probe_hung, subject, fmt::format("no answer within {:.1f} s", seconds)};
    return;
  }
  if (outcome.signal != 0) return crashed(signal_name(outcome.signal));
  if (outcome.exit_code != 0)
    return crashed(fmt::format("it ended the process with code {}", outcome.exit_code));
  auto report = probe_report_from_json(outcome.out);
  if (!report) return crashed("it ended the process without an answer");
  attempt.report = std::move(*report);
  attempt.finding = judge(kind, attempt, outcome.err);
}

ProbeAttempt ask(DeviceKind kind, const fs::path& library, const fs::path& helper,
                 const ProbeOptions& options) {
  ProbeAttempt attempt{.library = library};
  const ProbeKey key = probe_key(library, helper, options.timeout);
  std::optional<ChildOutcome> outcome = options.refresh ? std::nullopt : load_probe(key);
  attempt.from_cache = outcome.has_value();
  if (!outcome) {
    constexpr size_t kMostOutput = 256 << 10;
    outcome = run_child(helper, {std::string(helper_word(kind)), "--library", library.string()},
                        {.time = options.timeout, .output_bytes = kMostOutput});
    constexpr size_t kWorthKeeping = 4096;  // of what a driver printed: enough for a reason
    outcome->err.resize(std::min(outcome->err.size(), kWorthKeeping));
    store_probe(key, *outcome);
  }
  interpret(kind, *outcome, options.timeout, attempt);
  return attempt;
}

bool has_devices(const ProbeAttempt& attempt) {
  return !attempt.finding && !attempt.report.devices.empty();
}

bool has_sound_device(const ProbeAttempt& attempt) {
  const auto& devices = attempt.report.devices;
  return has_devices(attempt) && std::any_of(devices.begin(), devices.end(),
                                             [](const ProbedDevice& device) { return !device.problem; });
}

}  // namespace

ProbeResult probe(DeviceKind kind, const ProbeOptions& options) {
  ProbeResult result{.kind = kind};
  const std::vector<fs::path> libraries = driver_files(kind);
  if (libraries.empty()) return result;
  const fs::path helper = find_helper();
  if (helper.empty()) {
    result.problem = "the helper program sotto-probe is not beside " + this_module().string();
    return result;
  }
  for (const fs::path& library : libraries) {
    try {
      result.attempts.push_back(ask(kind, library, helper, options));
    } catch (const Error& error) {
      result.problem = error.what();
      return result;
    }
    const ProbeAttempt& attempt = result.attempts.back();
    if (has_devices(attempt) && !result.chosen) result.chosen = result.attempts.size() - 1;
    if (has_sound_device(attempt)) {
      result.chosen = result.attempts.size() - 1;
      break;
    }
  }
  return result;
}

}  // namespace sotto
