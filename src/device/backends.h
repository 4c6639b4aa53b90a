#pragma once

#include <memory>
#include <span>
#include <string>

#include "device/catalogue.h"

namespace sotto {

// What a device gives to kernels that do nothing else: a multiply-add counts as two operations, a copied byte
// as one read and one written.
struct DeviceCeilings {
  double float_operations_per_second = 0;
  double copy_bytes_per_second = 0;
};

// One way to compute that this build holds. What a build can do is a question put to this table.
struct BackendEntry {
  DeviceKind kind;
  // Whether its kernels run on this device; if not, why_not says what is missing.
  bool (*supports)(const Device& device, std::string& why_not);
  std::unique_ptr<Backend> (*open)(const Device& device, ComputeType type, int threads);
  DeviceCeilings (*measure)(Backend& backend) = nullptr;  // nothing: the benchmark has its own way
};

std::span<const BackendEntry> built_in_backends() noexcept;

const BackendEntry* find_backend(std::span<const BackendEntry> backends, DeviceKind kind) noexcept;

// Why this build cannot use the device, however healthy it is; nothing: it can.
std::optional<Finding> missing_kernels(std::span<const BackendEntry> backends, const Device& device);

}  // namespace sotto
