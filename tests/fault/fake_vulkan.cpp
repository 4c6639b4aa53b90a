// libvulkan.so.1 with scripted behaviour: loader and driver in one.
#include "device/vulkan_driver.h"
#include "fault/fake_script.h"

namespace {

using namespace sotto::test::fake;
using namespace sotto::vulkan;

constexpr Result kOutOfDeviceMemory = -2;
int instance_mark = 0;

// Handles are the addresses of the devices' scripts.
const DeviceScript& script_of(const void* handle) {
  return *static_cast<const DeviceScript*>(handle);
}

Result instance_version(uint32_t* packed) {
  *packed = script().version != 0 ? static_cast<uint32_t>(script().version) : version(1, 3);
  return kSuccess;
}

Result no_extensions(const void*, const char*, uint32_t* count, ExtensionProperties*) {
  *count = 0;
  return kSuccess;
}

Result no_instance_extensions(const char*, uint32_t* count, ExtensionProperties*) {
  *count = 0;
  return kSuccess;
}

Result create_instance(const InstanceCreateInfo*, const void*, Instance* instance) {
  misbehave();
  *instance = reinterpret_cast<Instance>(&instance_mark);
  return script().init_error;
}

Result physical_devices(Instance, uint32_t* count, PhysicalDevice* devices) {
  *count = static_cast<uint32_t>(script().devices.size());
  if (devices == nullptr) return kSuccess;
  for (const DeviceScript& device : script().devices)
    *devices++ = reinterpret_cast<PhysicalDevice>(const_cast<DeviceScript*>(&device));
  return kSuccess;
}

DeviceType type_of(const DeviceScript& device) {
  return device.type == "cpu"          ? DeviceType::cpu
         : device.type == "integrated" ? DeviceType::integrated
         : device.type == "virtual"    ? DeviceType::virtual_gpu
                                       : DeviceType::discrete;
}

template <class Structure>
Structure* as(ChainLink* link, StructureType type) {
  return link->type == type ? reinterpret_cast<Structure*>(link) : nullptr;
}

void properties(PhysicalDevice handle, PhysicalDeviceProperties2* answer) {
  const DeviceScript& device = script_of(handle);
  answer->properties.api_version = version(1, 3);
  answer->properties.device_type = type_of(device);
  copy_text(device.name, answer->properties.name, 256);
  const uint32_t buffers = device.buffers;
  std::memcpy(answer->properties.limits + kStorageBuffersLimit, &buffers, sizeof(buffers));
  for (auto* link = static_cast<ChainLink*>(answer->next); link != nullptr;
       link = static_cast<ChainLink*>(link->next)) {
    if (auto* id = as<IdProperties>(link, StructureType::id_properties))
      parse_uuid(device.uuid, id->device_uuid);
    if (auto* subgroup = as<SubgroupProperties>(link, StructureType::subgroup_properties))
      subgroup->size = 32;
    if (auto* driver = as<DriverProperties>(link, StructureType::driver_properties)) {
      copy_text("fake", driver->name, 256);
      copy_text("1.0", driver->info, 256);
    }
  }
}

void features(PhysicalDevice handle, Features2* answer) {
  const Bool float16 = script_of(handle).float16 ? 1 : 0;
  for (auto* link = static_cast<ChainLink*>(answer->next); link != nullptr;
       link = static_cast<ChainLink*>(link->next)) {
    if (auto* storage = as<Storage16BitFeatures>(link, StructureType::storage_16bit_features))
      storage->storage_buffer = float16;
    if (auto* storage = as<Storage8BitFeatures>(link, StructureType::storage_8bit_features))
      storage->storage_buffer = 1;
    if (auto* arithmetic = as<Float16Int8Features>(link, StructureType::float16_int8_features)) {
      arithmetic->float16 = float16;
      arithmetic->int8 = 1;
    }
    if (auto* dot = as<IntegerDotProductFeatures>(link, StructureType::integer_dot_product_features))
      dot->dot_product = 1;
  }
}

void memory_properties(PhysicalDevice handle, MemoryProperties2* answer) {
  answer->type_count = answer->heap_count = 1;
  answer->types[0] = {kDeviceLocal, 0};
  answer->heaps[0] = {script_of(handle).memory_mib << 20, kDeviceLocal};
}

void queue_families(PhysicalDevice, uint32_t* count, QueueFamily* families) {
  *count = 1;
  if (families != nullptr) *families = {kComputeQueue, 1, 64, {1, 1, 1}};
}

Result create_device(PhysicalDevice handle, const DeviceCreateInfo*, const void*, LogicalDevice* device) {
  *device = reinterpret_cast<LogicalDevice>(handle);
  return kSuccess;
}

void destroy_device(LogicalDevice, const void*) {}

Result allocate_memory(LogicalDevice handle, const MemoryAllocateInfo*, const void*, DeviceMemory* memory) {
  *memory = 1;
  return script_of(handle).allocation_fails ? kOutOfDeviceMemory : kSuccess;
}

void free_memory(LogicalDevice, DeviceMemory, const void*) {}

struct Entry {
  const char* name;
  AnyFunction function;
};

template <class Function>
Entry entry(const char* name, Function* function) {
  return {name, reinterpret_cast<AnyFunction>(function)};
}

}  // namespace

FAKE_EXPORT AnyFunction vkGetInstanceProcAddr(Instance, const char* name) {
  static const Entry entries[] = {
      entry("vkEnumerateInstanceVersion", instance_version),
      entry("vkEnumerateInstanceExtensionProperties", no_instance_extensions),
      entry("vkCreateInstance", create_instance),
      entry("vkEnumeratePhysicalDevices", physical_devices),
      entry("vkEnumerateDeviceExtensionProperties", no_extensions),
      entry("vkGetPhysicalDeviceProperties2", properties),
      entry("vkGetPhysicalDeviceFeatures2", features),
      entry("vkGetPhysicalDeviceMemoryProperties2", memory_properties),
      entry("vkGetPhysicalDeviceQueueFamilyProperties", queue_families),
      entry("vkCreateDevice", create_device),
      entry("vkDestroyDevice", destroy_device),
      entry("vkAllocateMemory", allocate_memory),
      entry("vkFreeMemory", free_memory),
  };
  for (const Entry& each : entries)
    if (std::strcmp(each.name, name) == 0) return each.function;
  return nullptr;
}
