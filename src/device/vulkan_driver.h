#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "platform/dynamic_library.h"

// The part of Vulkan that finding devices needs, by the names and layouts of its published binary interface,
// so that no header is needed.
namespace sotto::vulkan {

using Result = int32_t;
using Bool = uint32_t;
using Instance = struct InstanceState*;
using PhysicalDevice = struct PhysicalDeviceState*;
using LogicalDevice = struct LogicalDeviceState*;
using DeviceMemory = uint64_t;
using AnyFunction = void (*)();

inline constexpr Result kSuccess = 0;
inline constexpr Result kIncomplete = 5;
inline constexpr Result kIncompatibleDriver = -9;

constexpr uint32_t version(uint32_t major, uint32_t minor) {
  return major << 22 | minor << 12;
}
std::string version_text(uint32_t packed);  // "1.3.239"

// Subgroup operations and 16-bit storage are part of 1.1: what is older is not served.
inline constexpr uint32_t kOldestVersion = version(1, 1);

enum class DeviceType : uint32_t { other, integrated, discrete, virtual_gpu, cpu };

enum class StructureType : uint32_t {
  application_info = 0,
  instance_create_info = 1,
  device_queue_create_info = 2,
  device_create_info = 3,
  memory_allocate_info = 5,
  features_2 = 1000059000,
  properties_2 = 1000059001,
  memory_properties_2 = 1000059006,
  id_properties = 1000071004,
  float16_int8_features = 1000082000,
  storage_16bit_features = 1000083000,
  subgroup_properties = 1000094000,
  storage_8bit_features = 1000177000,
  driver_properties = 1000196000,
  pci_bus_info = 1000212000,
  memory_budget = 1000237000,
  integer_dot_product_features = 1000280000,
};

struct ChainLink {
  StructureType type;
  void* next;
};

struct ApplicationInfo {
  StructureType type = StructureType::application_info;
  const void* next = nullptr;
  const char* application_name = nullptr;
  uint32_t application_version = 0;
  const char* engine_name = nullptr;
  uint32_t engine_version = 0;
  uint32_t api_version = 0;
};

struct InstanceCreateInfo {
  StructureType type = StructureType::instance_create_info;
  const void* next = nullptr;
  uint32_t flags = 0;
  const ApplicationInfo* application = nullptr;
  uint32_t layer_count = 0;
  const char* const* layers = nullptr;
  uint32_t extension_count = 0;
  const char* const* extensions = nullptr;
};
inline constexpr uint32_t kEnumeratePortability = 1;  // flag: list drivers such as MoltenVK too

struct ExtensionProperties {
  char name[256];
  uint32_t version;
};

struct PhysicalDeviceProperties {
  uint32_t api_version, driver_version, vendor, device;
  DeviceType device_type;
  char name[256];
  uint8_t pipeline_cache_uuid[16];
  alignas(8) std::byte limits[504];  // of which one is asked for
  Bool sparse[5];
};
static_assert(sizeof(PhysicalDeviceProperties) == 824);
inline constexpr size_t kStorageBuffersLimit = 76;  // its place in the limits: buffers that a kernel may have
inline constexpr uint32_t kNeededStorageBuffers = 6;  // by the kernels of src/backend/vulkan

struct PhysicalDeviceProperties2 {
  StructureType type = StructureType::properties_2;
  void* next = nullptr;
  PhysicalDeviceProperties properties{};
};

struct IdProperties {
  StructureType type = StructureType::id_properties;
  void* next = nullptr;
  uint8_t device_uuid[16]{};
  uint8_t driver_uuid[16]{};
  uint8_t device_luid[8]{};
  uint32_t node_mask = 0;
  Bool luid_valid = 0;
};

struct SubgroupProperties {
  StructureType type = StructureType::subgroup_properties;
  void* next = nullptr;
  uint32_t size = 0, stages = 0, operations = 0;
  Bool quads_in_all_stages = 0;
};

struct DriverProperties {
  StructureType type = StructureType::driver_properties;
  void* next = nullptr;
  uint32_t driver_id = 0;
  char name[256]{};
  char info[256]{};
  uint8_t conformance[4]{};
};

struct PciBusInfo {
  StructureType type = StructureType::pci_bus_info;
  void* next = nullptr;
  uint32_t domain = 0, bus = 0, device = 0, function = 0;
};

struct Features2 {
  StructureType type = StructureType::features_2;
  void* next = nullptr;
  Bool features[55]{};
};

struct Storage16BitFeatures {
  StructureType type = StructureType::storage_16bit_features;
  void* next = nullptr;
  Bool storage_buffer = 0, uniform = 0, push_constant = 0, input_output = 0;
};

struct Storage8BitFeatures {
  StructureType type = StructureType::storage_8bit_features;
  void* next = nullptr;
  Bool storage_buffer = 0, uniform = 0, push_constant = 0;
};

struct Float16Int8Features {
  StructureType type = StructureType::float16_int8_features;
  void* next = nullptr;
  Bool float16 = 0, int8 = 0;
};

struct IntegerDotProductFeatures {
  StructureType type = StructureType::integer_dot_product_features;
  void* next = nullptr;
  Bool dot_product = 0;
};

inline constexpr uint32_t kMostMemoryTypes = 32, kMostMemoryHeaps = 16;
inline constexpr uint32_t kDeviceLocal = 1;  // flag of a memory type and of a heap

struct MemoryProperties2 {
  StructureType type = StructureType::memory_properties_2;
  void* next = nullptr;
  uint32_t type_count = 0;
  struct {
    uint32_t flags, heap;
  } types[kMostMemoryTypes]{};
  uint32_t heap_count = 0;
  struct {
    uint64_t bytes;
    uint32_t flags;
  } heaps[kMostMemoryHeaps]{};
};
static_assert(sizeof(MemoryProperties2) == 16 + 520);

struct MemoryBudget {
  StructureType type = StructureType::memory_budget;
  void* next = nullptr;
  uint64_t budget[kMostMemoryHeaps]{};
  uint64_t usage[kMostMemoryHeaps]{};
};

struct QueueFamily {
  uint32_t flags, count, timestamp_bits, granularity[3];
};
inline constexpr uint32_t kComputeQueue = 2;  // flag

struct DeviceQueueCreateInfo {
  StructureType type = StructureType::device_queue_create_info;
  const void* next = nullptr;
  uint32_t flags = 0, family = 0, count = 1;
  const float* priorities = nullptr;
};

struct DeviceCreateInfo {
  StructureType type = StructureType::device_create_info;
  const void* next = nullptr;
  uint32_t flags = 0, queue_count = 0;
  const DeviceQueueCreateInfo* queues = nullptr;
  uint32_t layer_count = 0;
  const char* const* layers = nullptr;
  uint32_t extension_count = 0;
  const char* const* extensions = nullptr;
  const void* features = nullptr;
};

struct MemoryAllocateInfo {
  StructureType type = StructureType::memory_allocate_info;
  const void* next = nullptr;
  uint64_t bytes = 0;
  uint32_t memory_type = 0;
};

// What the loader itself exports or gives without an instance.
struct Loader {
  // Throws Error(device) when the library cannot be opened, Error(unsupported) when it knows Vulkan 1.0 only.
  static Loader open(const std::filesystem::path& library);

  DynamicLibrary library;
  AnyFunction (*instance_function)(Instance instance, const char* name);
  Result (*instance_version)(uint32_t* version);
  Result (*instance_extensions)(const char* layer, uint32_t* count, ExtensionProperties* extensions);
  Result (*create_instance)(const InstanceCreateInfo* info, const void* allocator, Instance* instance);
};

// The functions of one instance.
struct InstanceFunctions {
  InstanceFunctions(const Loader& loader, Instance instance);

  Result (*physical_devices)(Instance instance, uint32_t* count, PhysicalDevice* devices);
  Result (*device_extensions)(PhysicalDevice device, const char* layer, uint32_t* count,
                              ExtensionProperties* extensions);
  void (*properties)(PhysicalDevice device, PhysicalDeviceProperties2* properties);
  void (*features)(PhysicalDevice device, Features2* features);
  void (*memory_properties)(PhysicalDevice device, MemoryProperties2* properties);
  void (*queue_families)(PhysicalDevice device, uint32_t* count, QueueFamily* families);
  Result (*create_device)(PhysicalDevice device, const DeviceCreateInfo* info, const void* allocator,
                          LogicalDevice* logical);
  void (*destroy_device)(LogicalDevice device, const void* allocator);
  Result (*allocate_memory)(LogicalDevice device, const MemoryAllocateInfo* info, const void* allocator,
                            DeviceMemory* memory);
  void (*free_memory)(LogicalDevice device, DeviceMemory memory, const void* allocator);
};

std::string error_text(Result result);  // "VK_ERROR_INCOMPATIBLE_DRIVER"

}  // namespace sotto::vulkan
