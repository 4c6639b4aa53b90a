#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "base/log.h"
#include "device/backends.h"
#include "device/catalogue.h"

namespace sotto {

// What was asked for.
struct DeviceRequest {
  std::string device = "auto";  // "cuda", "hip:1", "cuda:3f2a91c0"
  std::string origin;           // who asked, for people: "--device", "SOTTO_DEVICE"; empty: nobody
  ComputeType compute_type = ComputeType::automatic;
  int threads = 0;
  bool fallback =
      true;  // a device that cannot serve gives way to the CPU, with a warning; false: it is an error
};

struct DeviceName {
  std::optional<DeviceKind> kind;  // nothing: auto
  std::string which;  // an index or hexadecimal digits of a UUID; empty: the best one of the kind
};

// Knows the aliases (hip, mps). Throws Error(usage) that lists what there is.
DeviceName parse_device_name(std::string_view text);

struct DeviceNote {
  LogLevel level;
  std::string text;
};

// A device that is ready to work, and how it came to be the one.
struct OpenedDevice {
  std::unique_ptr<Backend> backend;
  Device device;
  std::string why;                // why this one
  std::string line;               // what happened, in one line for people
  std::vector<DeviceNote> notes;  // what was passed over and why
};

// Says why an opened device must not be trusted; nothing: it may be.
using TrustCheck = FunctionRef<std::optional<Finding>(const Device& device, Backend& backend)>;

// Opens the device that was asked for, or with auto the best one that can be used. A device that cannot be
// opened or trusted gives way to the next (auto) or to the CPU (asked for, fallback). Throws Error(usage) for
// names that make no sense, Error(unsupported) for a compute type that the device lacks, Error(device)
// without fallback.
OpenedDevice open_device(const DeviceRequest& request, const Catalogue& catalogue,
                         std::span<const BackendEntry> backends, TrustCheck trust_check);

// The CPU, whatever else was asked for; in the compute type that was asked for where the CPU has it.
OpenedDevice open_cpu(const DeviceRequest& request);

}  // namespace sotto
