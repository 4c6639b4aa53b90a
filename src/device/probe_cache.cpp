#include "device/probe_cache.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "device/hardware.h"
#include "device/probe_report.h"
#include "platform/directories.h"

namespace sotto {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array kVariables = {
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",   "NVIDIA_VISIBLE_DEVICES",   "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",  "HSA_OVERRIDE_GFX_VERSION", "VK_ICD_FILENAMES",
    "VK_DRIVER_FILES",      "VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE",
    "LD_LIBRARY_PATH",      "LD_PRELOAD",
};

// The file itself, so that a new version behind the same link counts as new.
std::string file_state(const fs::path& path) {
  std::error_code unknown;
  const fs::path file = fs::weakly_canonical(path, unknown);
  const auto size = fs::file_size(file, unknown);
  const auto time = fs::last_write_time(file, unknown);
  return fmt::format("{} {} {}\n", file.string(), size, time.time_since_epoch().count());
}

std::string hardware_state(const Hardware& hardware) {
  std::string state;
  for (const PciDisplay& display : hardware.displays)
    state += fmt::format("pci {} {:04x}:{:04x} {}\n", display.address, display.vendor, display.device,
                         display.kernel_driver);
  for (const KfdNode& node : hardware.kfd_nodes)
    state += fmt::format("kfd {} {}\n", node.node, node.architecture);
  for (const DeviceFile& file : hardware.device_files)
    state += fmt::format("file {} {}\n", file.path, file.accessible);
  return state + fmt::format("modules {} {}\n", hardware.nvidia_module, hardware.amdgpu_module);
}

// Vulkan's loader opens the drivers that these files name.
std::string vulkan_manifests(const fs::path& root) {
  std::string state;
  for (const char* folder : {"etc/vulkan/icd.d", "usr/share/vulkan/icd.d", "usr/local/share/vulkan/icd.d"}) {
    std::vector<std::string> files;
    std::error_code ended;
    for (fs::directory_iterator entry(root / folder, ended), last; !ended && entry != last;
         entry.increment(ended))
      files.push_back(file_state(entry->path()));
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) state += file;
  }
  return state;
}

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// FNV-1a: the name of a file only; what is in it says for which key it is.
fs::path cache_file(const ProbeKey& key) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : key.question) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return user_cache_directory() / "probes" / fmt::format("{:016x}.json", hash);
}

template <class Value>
std::optional<Value> member(const Json& object, const char* name, bool (Json::*is_kind)() const noexcept) {
  const auto found = object.find(name);
  if (found == object.end() || !((*found).*is_kind)()) return std::nullopt;
  return found->get<Value>();
}

}  // namespace

ProbeKey probe_key(const fs::path& library, const fs::path& helper, std::chrono::milliseconds timeout) {
  const fs::path root = system_root();
  ProbeKey key{.question = fmt::format("{}\n{} ms\n", library.string(), timeout.count()), .state = {}};
  for (const char* name : kVariables)
    if (const char* value = std::getenv(name)) key.question += fmt::format("{}={}\n", name, value);
  key.state = fmt::format("probe {}\n", kProbeVersion) + file_state(library) + file_state(helper) +
              hardware_state(find_hardware()) + vulkan_manifests(root);
  // A driver that hangs often works again after a restart of the system.
  key.state += "boot " + first_line(root / "proc/sys/kernel/random/boot_id") + "\n";
  return key;
}

std::optional<ChildOutcome> load_probe(const ProbeKey& key) {
  constexpr uintmax_t kMostBytes = 2 << 20;
  const fs::path path = cache_file(key);
  std::error_code missing;
  const uintmax_t bytes = fs::file_size(path, missing);
  if (missing || bytes > kMostBytes) return std::nullopt;
  std::string text(bytes, '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(bytes));
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || member<std::string>(json, "key", &Json::is_string) != key.question + key.state)
    return std::nullopt;
  const auto out = member<std::string>(json, "out", &Json::is_string);
  const auto err = member<std::string>(json, "err", &Json::is_string);
  const auto exit_code = member<int>(json, "exit_code", &Json::is_number_integer);
  const auto signal = member<int>(json, "signal", &Json::is_number_integer);
  const auto timed_out = member<bool>(json, "timed_out", &Json::is_boolean);
  if (!out || !err || !exit_code || !signal || !timed_out) return std::nullopt;
  return ChildOutcome{*out, *err, *exit_code, *signal, *timed_out};
}

void store_probe(const ProbeKey& key, const ChildOutcome& outcome) noexcept try {
  const Json json = {
      {"key", key.question + key.state}, {"out", outcome.out},       {"err", outcome.err},
      {"exit_code", outcome.exit_code},  {"signal", outcome.signal}, {"timed_out", outcome.timed_out}};
  const fs::path target = cache_file(key);
  fs::create_directories(target.parent_path());
  fs::path draft = target;
  static std::atomic<int> drafts{0};  // threads of one process write at the same time, too
  draft += fmt::format(".{}.{}", process_id(), drafts++);
  std::ofstream file(draft, std::ios::binary);
  file << json.dump(1, ' ', false, Json::error_handler_t::replace);
  file.close();
  if (file) fs::rename(draft, target);
} catch (const std::exception&) {
  // Nothing is lost but time.
}

}  // namespace sotto
