#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "platform/dynamic_library.h"

// The part of NVIDIA's driver interface that Sotto uses, by the names that the driver exports. The types are
// those of its documented binary interface, so that no header of the vendor is needed.
namespace sotto::cuda {

using Result = int;
using Device = int;
using Context = struct ContextState*;
using DevicePointer = unsigned long long;
struct Uuid {
  unsigned char bytes[16];
};

inline constexpr Result kSuccess = 0;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kSystemDriverMismatch = 803;  // library and kernel module are of different versions
inline constexpr Result kCompatNotSupported =
    804;  // a compatibility library on a device that does not allow it

enum class Attribute : int {
  multiprocessors = 16,
  integrated = 18,
  compute_major = 75,
  compute_minor = 76,
  shared_memory_optin = 97,
};

// The oldest driver interface that is served (CUDA 12.0: drivers 525 and later).
inline constexpr uint32_t kOldestVersion = 12000;

struct Driver {
  // Throws Error(device) when the library cannot be opened, Error(unsupported) when it lacks a function.
  static Driver open(const std::filesystem::path& library);

  std::string error_text(Result result) const;  // "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected"

  DynamicLibrary library;
  Result (*init)(unsigned flags);
  Result (*driver_version)(int* version);
  Result (*device_count)(int* count);
  Result (*device_get)(Device* device, int ordinal);
  Result (*device_name)(char* name, int length, Device device);
  Result (*device_uuid)(Uuid* uuid, Device device);
  Result (*device_total_memory)(size_t* bytes, Device device);
  Result (*device_attribute)(int* value, Attribute attribute, Device device);
  Result (*device_pci_address)(char* text, int length, Device device);
  Result (*primary_context_retain)(Context* context, Device device);
  Result (*primary_context_release)(Device device);
  Result (*context_set_current)(Context context);
  Result (*memory_info)(size_t* free, size_t* total);
  Result (*memory_allocate)(DevicePointer* pointer, size_t bytes);
  Result (*memory_free)(DevicePointer pointer);
  Result (*error_name)(Result result, const char** text);
  Result (*error_string)(Result result, const char** text);
};

}  // namespace sotto::cuda
