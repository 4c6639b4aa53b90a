#include "device/catalogue.h"

#include <fmt/format.h>

namespace sotto {

std::string_view device_kind_name(DeviceKind kind) noexcept {
  switch (kind) {
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::rocm:
      return "rocm";
    case DeviceKind::metal:
      return "metal";
    case DeviceKind::vulkan:
      return "vulkan";
    case DeviceKind::cpu:
      return "cpu";
  }
  return "unknown";
}

std::string Device::id() const {
  return kind == DeviceKind::cpu ? "cpu" : fmt::format("{}:{}", device_kind_name(kind), index);
}

}  // namespace sotto
