#pragma once

#include <chrono>
#include <span>
#include <vector>

#include "base/options.h"
#include "device/backends.h"
#include "device/catalogue.h"
#include "device/hardware.h"
#include "device/probe.h"

namespace sotto {

struct DetectOptions {
  std::chrono::milliseconds probe_timeout{5000};  // for each driver library
  bool refresh = false;                           // ask the drivers again although their answers are known
  std::span<const BackendEntry> backends = built_in_backends();
};

// Everything that was seen, and what it comes to.
struct Detection {
  Hardware hardware;
  std::vector<ProbeResult> probes;  // one for each kind of driver
  Catalogue catalogue;
};

std::chrono::milliseconds probe_timeout(const Options& options);

Detection detect_devices(const DetectOptions& options = {});
Catalogue find_devices(const DetectOptions& options = {});

// The CPU alone, without a look at anything else.
Device cpu_device();

// What hardware and drivers say, joined: every device with its obstacle, every finding that belongs to none.
Catalogue make_catalogue(const Hardware& hardware, std::span<const ProbeResult> probes,
                         std::span<const BackendEntry> backends);

}  // namespace sotto
