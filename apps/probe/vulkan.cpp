#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "device/vulkan_driver.h"
#include "probe/questions.h"

namespace sotto::probing {
namespace {

using namespace vulkan;

DriverError refusal(const char* step, Result result) {
  return {step, result, error_text(result)};
}

bool has_extension(const std::vector<ExtensionProperties>& extensions, std::string_view name) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const ExtensionProperties& extension) { return extension.name == name; });
}

// Lists come in two calls: how many, then the entries; fewer may arrive than were announced.
template <class Entry, class Call>
std::vector<Entry> list(Call&& call) {
  constexpr uint32_t kMostEntries = 4096;
  uint32_t count = 0;
  call(&count, nullptr);
  count = std::min(count, kMostEntries);
  std::vector<Entry> entries(count);
  if (count > 0) call(&count, entries.data());
  entries.resize(std::min<size_t>(count, entries.size()));
  return entries;
}

// Adds a structure to the chain behind another.
template <class Head, class Link>
void chain(Head& head, Link& link) {
  link.next = head.next;
  head.next = &link;
}

Result create_instance(const Loader& loader, Instance& instance) {
  constexpr const char* kPortability = "VK_KHR_portability_enumeration";
  const auto extensions = list<ExtensionProperties>(
      [&](uint32_t* count, ExtensionProperties* to) { loader.instance_extensions(nullptr, count, to); });
  const bool portable = has_extension(extensions, kPortability);
  const ApplicationInfo application{.application_name = "sotto", .api_version = version(1, 3)};
  const InstanceCreateInfo info{.flags = portable ? kEnumeratePortability : 0,
                                .application = &application,
                                .extension_count = portable ? 1u : 0u,
                                .extensions = &kPortability};
  return loader.create_instance(&info, nullptr, &instance);
}

struct Asked {
  const InstanceFunctions& functions;
  PhysicalDevice device;
  uint32_t api_version = 0;
  std::vector<ExtensionProperties> extensions;

  bool knows(uint32_t since, std::string_view extension) const {
    return api_version >= since || has_extension(extensions, extension);
  }
};

constexpr uint32_t kNeverCore = UINT32_MAX;

void ask_properties(const Asked& asked, ProbedDevice& device) {
  PhysicalDeviceProperties2 properties;
  IdProperties id;
  SubgroupProperties subgroup;
  DriverProperties driver;
  PciBusInfo pci;
  const bool knows_pci = asked.knows(kNeverCore, "VK_EXT_pci_bus_info");
  chain(properties, id);
  chain(properties, subgroup);
  if (asked.knows(version(1, 2), "VK_KHR_driver_properties")) chain(properties, driver);
  if (knows_pci) chain(properties, pci);
  asked.functions.properties(asked.device, &properties);
  const DeviceType type = properties.properties.device_type;
  device.uuid = uuid_text(id.device_uuid);
  device.subgroup_size = static_cast<int>(std::min<uint32_t>(subgroup.size, 128));
  device.integrated = type == DeviceType::integrated;
  device.software = type == DeviceType::cpu;
  driver.name[255] = driver.info[255] = '\0';
  device.driver = driver.name[0] == '\0' ? "version " + std::to_string(properties.properties.driver_version)
                                         : fmt::format("{} {}", driver.name, driver.info);
  if (knows_pci)
    device.pci_address =
        fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.device, pci.function);
}

void ask_features(const Asked& asked, ProbedDevice& device) {
  Features2 features;
  Storage16BitFeatures storage16;
  Storage8BitFeatures storage8;
  Float16Int8Features arithmetic;
  IntegerDotProductFeatures dot_product;
  chain(features, storage16);
  if (asked.knows(version(1, 2), "VK_KHR_8bit_storage")) chain(features, storage8);
  if (asked.knows(version(1, 2), "VK_KHR_shader_float16_int8")) chain(features, arithmetic);
  if (asked.knows(version(1, 3), "VK_KHR_shader_integer_dot_product")) chain(features, dot_product);
  asked.functions.features(asked.device, &features);
  device.float16_storage = storage16.storage_buffer != 0;
  device.int8_storage = storage8.storage_buffer != 0;
  device.float16_arithmetic = arithmetic.float16 != 0;
  device.int8_arithmetic = arithmetic.int8 != 0;
  device.int8_dot_product = dot_product.dot_product != 0;
}

// The memory of the largest heap on the device, and a memory type in it.
uint32_t ask_memory(const Asked& asked, ProbedDevice& device) {
  MemoryProperties2 memory;
  MemoryBudget budget;
  const bool knows_budget = asked.knows(kNeverCore, "VK_EXT_memory_budget");
  if (knows_budget) chain(memory, budget);
  asked.functions.memory_properties(asked.device, &memory);
  uint32_t best_type = 0;
  for (uint32_t type = 0; type < std::min(memory.type_count, kMostMemoryTypes); ++type) {
    const uint32_t heap = memory.types[type].heap;
    if ((memory.types[type].flags & kDeviceLocal) == 0 || heap >= kMostMemoryHeaps) continue;
    if (memory.heaps[heap].bytes <= device.memory_total) continue;
    best_type = type;
    device.memory_total = memory.heaps[heap].bytes;
    const uint64_t used = std::min(budget.usage[heap], budget.budget[heap]);
    device.memory_free = knows_budget ? budget.budget[heap] - used : device.memory_total;
  }
  return best_type;
}

std::optional<DriverError> try_memory(const Asked& asked, uint32_t memory_type) {
  const auto families = list<QueueFamily>(
      [&](uint32_t* count, QueueFamily* to) { asked.functions.queue_families(asked.device, count, to); });
  const auto family = std::find_if(families.begin(), families.end(),
                                   [](const QueueFamily& each) { return (each.flags & kComputeQueue) != 0; });
  if (family == families.end())
    return DriverError{"compute queue", 0, "the device has no queue for computing"};
  const float priority = 1;
  const DeviceQueueCreateInfo queue{.family = static_cast<uint32_t>(family - families.begin()),
                                    .priorities = &priority};
  const DeviceCreateInfo info{.queue_count = 1, .queues = &queue};
  LogicalDevice logical = nullptr;
  if (const Result result = asked.functions.create_device(asked.device, &info, nullptr, &logical);
      result != kSuccess)
    return refusal("vkCreateDevice", result);
  const MemoryAllocateInfo trial{.bytes = kTrialBytes, .memory_type = memory_type};
  DeviceMemory memory = 0;
  const Result result = asked.functions.allocate_memory(logical, &trial, nullptr, &memory);
  if (result == kSuccess) asked.functions.free_memory(logical, memory, nullptr);
  asked.functions.destroy_device(logical, nullptr);
  return result == kSuccess ? std::nullopt : std::optional(refusal("vkAllocateMemory", result));
}

ProbedDevice describe(const InstanceFunctions& functions, PhysicalDevice physical, int index) {
  ProbedDevice device{.index = index};
  PhysicalDeviceProperties2 first;
  functions.properties(physical, &first);
  first.properties.name[255] = '\0';
  device.name = first.properties.name;
  const Asked asked{functions, physical, first.properties.api_version,
                    list<ExtensionProperties>([&](uint32_t* count, ExtensionProperties* to) {
                      functions.device_extensions(physical, nullptr, count, to);
                    })};
  if (asked.api_version < kOldestVersion) {
    device.problem = {"version", 0, "the driver knows Vulkan " + version_text(asked.api_version) + " only"};
    return device;
  }
  uint32_t buffers = 0;
  std::memcpy(&buffers, first.properties.limits + kStorageBuffersLimit, sizeof(buffers));
  if (buffers < kNeededStorageBuffers) {
    device.problem = {
        "buffers", 0,
        fmt::format("a kernel may have {} buffers, and {} are needed", buffers, kNeededStorageBuffers)};
    return device;
  }
  ask_properties(asked, device);
  ask_features(asked, device);
  device.problem = try_memory(asked, ask_memory(asked, device));
  return device;
}

}  // namespace

ProbeReport ask_vulkan(const std::filesystem::path& library) {
  const Loader loader = Loader::open(library);
  ProbeReport report;
  loader.instance_version(&report.api_version);
  report.version = version_text(report.api_version);
  Instance instance = nullptr;
  if (const Result result = create_instance(loader, instance); result != kSuccess) {
    report.error = refusal("vkCreateInstance", result);
    return report;
  }
  const InstanceFunctions functions(loader, instance);
  const auto devices = list<PhysicalDevice>(
      [&](uint32_t* count, PhysicalDevice* to) { functions.physical_devices(instance, count, to); });
  for (const PhysicalDevice physical : devices) {
    const auto index = static_cast<int>(report.devices.size());
    if (index < kMostDevices) report.devices.push_back(describe(functions, physical, index));
  }
  return report;
}

}  // namespace sotto::probing
