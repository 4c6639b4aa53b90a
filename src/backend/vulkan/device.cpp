#include "backend/vulkan/device.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "platform/driver_places.h"

namespace sotto::vk {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

// Lists come in two calls: how many, then the entries.
template <class Entry, class Call>
std::vector<Entry> list(Call&& call) {
  uint32_t count = 0;
  call(&count, nullptr);
  std::vector<Entry> entries(count);
  if (count > 0) call(&count, entries.data());
  entries.resize(std::min<size_t>(count, entries.size()));
  return entries;
}

bool has_extension(const std::vector<VkExtensionProperties>& extensions, std::string_view name) {
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const VkExtensionProperties& each) { return each.extensionName == name; });
}

VKAPI_ATTR VkBool32 VKAPI_CALL pass_on(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                       VkDebugUtilsMessageTypeFlagsEXT,
                                       const VkDebugUtilsMessengerCallbackDataEXT* data, void* user) {
  (*static_cast<const std::function<void(const std::string&)>*>(user))(data->pMessage);
  return VK_FALSE;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info(void* user) {
  VkDebugUtilsMessengerCreateInfoEXT info{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                     VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  info.pfnUserCallback = pass_on;
  info.pUserData = user;
  return info;
}

std::filesystem::path loader_or_default(const std::filesystem::path& library) {
  return library.empty() ? std::filesystem::path(driver_names().vulkan.front()) : library;
}

std::string digits_of(const uint8_t (&uuid)[VK_UUID_SIZE]) {
  std::string digits;
  for (const uint8_t byte : uuid) digits += fmt::format("{:02x}", byte);
  return digits;
}

// Clears what is not to be used.
void leave_out(Abilities& abilities, std::string_view words) {
  const std::pair<std::string_view, bool Abilities::*> known[] = {{"storage16", &Abilities::storage16},
                                                                  {"float16", &Abilities::float16},
                                                                  {"dot", &Abilities::dot},
                                                                  {"subgroups", &Abilities::subgroups},
                                                                  {"lanes", &Abilities::lanes},
                                                                  {"timeline", &Abilities::timeline}};
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(','));
    words.remove_prefix(std::min(word.size() + 1, words.size()));
    bool found = word == "all";
    for (const auto& [name, member] : known)
      if (word == "all" || word == name) abilities.*member = false, found = true;
    if (!found)
      throw Error(ErrorCode::usage, "'{}' is nothing that Vulkan kernels can do without; there are: {}, all",
                  word, fmt::join(vulkan_abilities(), ", "));
  }
}

}  // namespace

Instance::Instance(const std::filesystem::path& library, std::function<void(const std::string&)> on_message)
    : library_(DynamicLibrary::open(loader_or_default(library))), on_message_(std::move(on_message)) {
  const auto lookup = library_.symbol<PFN_vkGetInstanceProcAddr>("vkGetInstanceProcAddr");
  const auto list_extensions = reinterpret_cast<PFN_vkEnumerateInstanceExtensionProperties>(
      lookup(nullptr, "vkEnumerateInstanceExtensionProperties"));
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(lookup(nullptr, "vkCreateInstance"));
  if (list_extensions == nullptr || create == nullptr)
    throw Error(ErrorCode::unsupported, "{} is no Vulkan loader", library_.path().string());

  const auto offered = list<VkExtensionProperties>(
      [&](uint32_t* count, VkExtensionProperties* to) { list_extensions(nullptr, count, to); });
  const bool portability = has_extension(offered, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
  std::vector<const char*> extensions;
  if (portability) extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
  if (on_message_) extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);

  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "sotto";
  application.apiVersion = VK_API_VERSION_1_3;  // the newest that is known here; the device may be older
  VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info(&on_message_);
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pNext = on_message_ ? &messenger : nullptr;  // for what happens before and after the messenger's life
  info.flags = portability ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0;
  info.pApplicationInfo = &application;
  info.enabledLayerCount = on_message_ ? 1 : 0;
  info.ppEnabledLayerNames = &kValidationLayer;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  const VkResult result = create(&info, nullptr, &instance_);
  if (result == VK_ERROR_LAYER_NOT_PRESENT || result == VK_ERROR_EXTENSION_NOT_PRESENT)
    throw Error(ErrorCode::unsupported, "The Vulkan validation layer is not installed ({})",
                result_text(result));
  check("vkCreateInstance", result);
  functions_ = InstanceFunctions(lookup, instance_);
  if (on_message_ && functions_.create_messenger != nullptr)
    check("vkCreateDebugUtilsMessengerEXT",
          functions_.create_messenger(instance_, &messenger, nullptr, &messenger_));
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) functions_.destroy_messenger(instance_, messenger_, nullptr);
  if (instance_ != nullptr) functions_.destroy_instance(instance_, nullptr);
}

std::vector<VkPhysicalDevice> Instance::devices() const {
  return list<VkPhysicalDevice>([&](uint32_t* count, VkPhysicalDevice* to) {
    check("vkEnumeratePhysicalDevices", functions_.physical_devices(instance_, count, to));
  });
}

Device::Device(const VulkanOptions& options) : instance_(options.library, options.on_message) {
  choose(options);
  const char* variable = std::getenv("SOTTO_VULKAN_WITHOUT");
  ask(!options.without.empty() ? options.without : variable != nullptr ? variable : "");
  open();
}

Device::~Device() {
  if (device_ != nullptr) functions_.destroy_device(device_, nullptr);
}

void Device::choose(const VulkanOptions& options) {
  std::string wanted = options.uuid;
  wanted.erase(std::remove(wanted.begin(), wanted.end(), '-'), wanted.end());
  const auto devices = instance_.devices();
  for (size_t i = 0; i < devices.size(); ++i) {
    VkPhysicalDeviceIDProperties id{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &id, {}};
    instance_.functions().properties(devices[i], &properties);
    const bool is_it =
        wanted.empty() ? static_cast<int>(i) == options.index : digits_of(id.deviceUUID) == wanted;
    if (!is_it) continue;
    physical_ = devices[i];
    properties_ = properties.properties;
    return;
  }
  throw Error(ErrorCode::device, "The Vulkan driver counts {} devices, and {} is not among them",
              devices.size(), wanted.empty() ? fmt::format("number {}", options.index) : options.uuid);
}

void Device::ask(const std::string& without) {
  const InstanceFunctions& call = instance_.functions();
  if (properties_.apiVersion < VK_API_VERSION_1_1)
    throw Error(ErrorCode::unsupported, "{} knows Vulkan {}.{} only; 1.1 is needed", name(),
                VK_API_VERSION_MAJOR(properties_.apiVersion), VK_API_VERSION_MINOR(properties_.apiVersion));
  constexpr uint32_t kBuffers = 6;
  if (limits().maxPerStageDescriptorStorageBuffers < kBuffers)
    throw Error(ErrorCode::unsupported, "{} gives a kernel {} buffers; {} are needed", name(),
                limits().maxPerStageDescriptorStorageBuffers, kBuffers);
  const auto extensions = list<VkExtensionProperties>([&](uint32_t* count, VkExtensionProperties* to) {
    call.device_extensions(physical_, nullptr, count, to);
  });
  const bool is_1_2 = properties_.apiVersion >= VK_API_VERSION_1_2,
             is_1_3 = properties_.apiVersion >= VK_API_VERSION_1_3;
  portability_subset_ = has_extension(extensions, "VK_KHR_portability_subset");
  dot_is_core_ = is_1_3;
  const bool knows_dot =
      is_1_3 || has_extension(extensions, VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);

  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDevice16BitStorageFeatures storage16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features float16{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  features.pNext = &storage16;
  if (is_1_2) storage16.pNext = &float16, float16.pNext = &timeline;
  if (knows_dot) dot.pNext = features.pNext, features.pNext = &dot;
  call.features(physical_, &features);

  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &subgroup, {}};
  call.properties(physical_, &properties);
  subgroup_size_ = std::max(subgroup.subgroupSize, 1u);
  const bool in_compute = (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  const auto offers = [&](VkSubgroupFeatureFlags which) {
    return in_compute && (subgroup.supportedOperations & which) == which;
  };
  abilities_.storage16 = storage16.storageBuffer16BitAccess != 0;
  abilities_.float16 = float16.shaderFloat16 != 0;
  abilities_.dot = dot.shaderIntegerDotProduct != 0;
  abilities_.subgroups = offers(VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
  abilities_.lanes = is_software() && features.features.shaderInt64 != 0 && subgroup_size_ <= 16 &&
                     offers(VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT);
  abilities_.timeline = timeline.timelineSemaphore != 0;
  leave_out(abilities_, without);
  call.memory_properties(physical_, &memory_);
}

void Device::open() {
  const InstanceFunctions& call = instance_.functions();
  const auto families = list<VkQueueFamilyProperties>(
      [&](uint32_t* count, VkQueueFamilyProperties* to) { call.queue_families(physical_, count, to); });
  const auto family = std::find_if(families.begin(), families.end(), [](const VkQueueFamilyProperties& each) {
    return (each.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
  });
  if (family == families.end()) throw Error(ErrorCode::unsupported, "{} has no queue for computing", name());
  queue_family_ = static_cast<uint32_t>(family - families.begin());

  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueFamilyIndex = queue_family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  // Only what is used is switched on.
  VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkPhysicalDevice16BitStorageFeatures storage16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES};
  VkPhysicalDeviceShaderFloat16Int8Features float16{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  VkPhysicalDeviceShaderIntegerDotProductFeatures dot{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_INTEGER_DOT_PRODUCT_FEATURES};
  const auto chain = [&](auto& link) { link.pNext = features.pNext, features.pNext = &link; };
  if (abilities_.lanes) features.features.shaderInt64 = VK_TRUE;
  if (abilities_.storage16) storage16.storageBuffer16BitAccess = VK_TRUE, chain(storage16);
  if (abilities_.float16) float16.shaderFloat16 = VK_TRUE, chain(float16);
  if (abilities_.timeline) timeline.timelineSemaphore = VK_TRUE, chain(timeline);
  if (abilities_.dot) dot.shaderIntegerDotProduct = VK_TRUE, chain(dot);
  std::vector<const char*> extensions;
  if (portability_subset_) extensions.push_back("VK_KHR_portability_subset");
  if (abilities_.dot && !dot_is_core_) extensions.push_back(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME);

  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  vk::check("vkCreateDevice", call.create_device(physical_, &info, nullptr, &device_));
  functions_ = DeviceFunctions(call.device_function, device_);
  functions_.queue(device_, queue_family_, 0, &queue_);
}

uint32_t Device::memory_type(uint32_t type_bits, VkMemoryPropertyFlags needed,
                             VkMemoryPropertyFlags wished) const {
  for (const VkMemoryPropertyFlags flags : {needed | wished, needed})
    for (uint32_t type = 0; type < memory_.memoryTypeCount; ++type)
      if ((type_bits & 1u << type) != 0 && (memory_.memoryTypes[type].propertyFlags & flags) == flags)
        return type;
  throw Error(ErrorCode::unsupported, "{} has no memory that the program can use (properties {:#x})", name(),
              needed);
}

void Device::check(const char* step, VkResult result) {
  if (result == VK_ERROR_DEVICE_LOST && !lost_) {
    lost_ = true;
    // What was handed over earlier may still be on its way to its end; after this nothing uses any memory.
    functions_.wait_idle(device_);
  }
  vk::check(step, result);
}

}  // namespace sotto::vk
