#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "platform/dynamic_library.h"

// The part of AMD's HIP runtime that Sotto uses, by the names that the runtime exports. The types are those
// of its documented binary interface, so that no header of the vendor is needed.
namespace sotto::hip {

using Result = int;
using Device = int;
struct Uuid {
  unsigned char bytes[16];
};

inline constexpr Result kSuccess = 0;
inline constexpr Result kNoDevice = 100;

// HIP 5.0: the oldest runtime whose code objects are of the form that current compilers make.
inline constexpr uint32_t kOldestVersion = 50000000;

struct Driver {
  // Throws Error(device) when the library cannot be opened, Error(unsupported) when it lacks a function.
  static Driver open(const std::filesystem::path& library);

  std::string error_text(Result result) const;  // "hipErrorNoDevice: no ROCm-capable device is detected"

  // "gfx1010", without the features that follow a colon.
  std::optional<std::string> architecture(int ordinal) const;

  DynamicLibrary library;
  Result (*init)(unsigned flags);
  Result (*runtime_version)(int* version);
  Result (*device_count)(int* count);
  Result (*device_get)(Device* device, int ordinal);
  Result (*device_name)(char* name, int length, Device device);
  Result (*device_uuid)(Uuid* uuid, Device device);  // nullptr before HIP 5.2
  Result (*device_total_memory)(size_t* bytes, Device device);
  Result (*device_pci_address)(char* text, int length, int ordinal);
  Result (*device_properties)(void* properties, int ordinal);
  Result (*set_device)(int ordinal);
  Result (*memory_info)(size_t* free, size_t* total);
  Result (*memory_allocate)(void** pointer, size_t bytes);
  Result (*memory_free)(void* pointer);
  const char* (*error_name)(Result result);
  const char* (*error_string)(Result result);
};

// The first architecture name ("gfx90a") in the bytes of a device's properties.
std::optional<std::string> find_architecture(std::string_view bytes);

}  // namespace sotto::hip
