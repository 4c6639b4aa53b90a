#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "platform/process.h"

namespace sotto {

// What an answer of a driver library depends on, as text.
struct ProbeKey {
  std::string question;  // the library and the variables that drivers obey: there is one file for each
  std::string
      state;  // versions, hardware, this start of the system: an answer for another state is overwritten
};
ProbeKey probe_key(const std::filesystem::path& library, const std::filesystem::path& helper,
                   std::chrono::milliseconds timeout);

// What a helper did under the same key before; nothing where that is unknown or its file is damaged.
std::optional<ChildOutcome> load_probe(const ProbeKey& key);

// Failing to write is no failure: the next call asks again.
void store_probe(const ProbeKey& key, const ChildOutcome& outcome) noexcept;

}  // namespace sotto
