#include "device/hardware.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "device/gpu_generations.h"
#include "device/pci_names.h"
#include "platform/file_access.h"

namespace sotto {
namespace {
namespace fs = std::filesystem;

// These files are a few hundred bytes; a wrong one must not fill the memory.
std::string read_text(const fs::path& path) {
  constexpr size_t kMostBytes = 4096;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(kMostBytes));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// "0x1002" or "8573157376"; 0 for what is no number.
uint64_t number(std::string_view text) {
  const bool hexadecimal = text.substr(0, 2) == "0x";
  if (hexadecimal) text.remove_prefix(2);
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  return value;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code ended;
  for (fs::directory_iterator entry(folder, ended), last; !ended && entry != last; entry.increment(ended))
    paths.push_back(entry->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Also what may not be looked at.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

PciDisplay read_display(const fs::path& folder) {
  PciDisplay display;
  display.address = folder.filename().string();
  display.vendor = static_cast<uint16_t>(number(read_text(folder / "vendor")));
  display.device = static_cast<uint16_t>(number(read_text(folder / "device")));
  PciName names = pci_name(display.vendor, display.device);
  display.name = std::move(names.name);
  display.architecture = std::move(names.architecture);
  display.generation = std::move(names.generation);
  std::error_code unbound;
  display.kernel_driver = fs::read_symlink(folder / "driver", unbound).filename().string();
  display.memory_total = number(read_text(folder / "mem_info_vram_total"));
  display.memory_used = number(read_text(folder / "mem_info_vram_used"));
  return display;
}

std::vector<PciDisplay> find_displays(const fs::path& root) {
  constexpr uint64_t kDisplayClass = 0x03;
  constexpr uint64_t kAcceleratorClass = 0x12;  // Instinct cards have no screen
  std::vector<PciDisplay> displays;
  for (const fs::path& folder : entries(root / "sys/bus/pci/devices")) {
    const uint64_t device_class = number(read_text(folder / "class")) >> 16;
    const bool amd = number(read_text(folder / "vendor")) == kAmdVendor;
    if (device_class == kDisplayClass || (device_class == kAcceleratorClass && amd))
      displays.push_back(read_display(folder));
  }
  return displays;
}

// Lines of "name number".
std::map<std::string, uint64_t> read_properties(const fs::path& path) {
  std::map<std::string, uint64_t> properties;
  std::ifstream file(path);
  std::string name, value;
  for (int lines = 0; lines < 1000 && file >> name >> value; ++lines) properties[name] = number(value);
  return properties;
}

std::vector<KfdNode> find_kfd_nodes(const fs::path& root) {
  std::vector<KfdNode> nodes;
  for (const fs::path& folder : entries(root / "sys/class/kfd/kfd/topology/nodes")) {
    auto properties = read_properties(folder / "properties");
    const std::string architecture = gfx_name(static_cast<unsigned>(properties["gfx_target_version"]));
    if (architecture.empty()) continue;  // a CPU
    const uint64_t location = properties["location_id"];
    nodes.push_back({.node = static_cast<int>(number(folder.filename().string())),
                     .architecture = architecture,
                     .device = static_cast<uint16_t>(properties["device_id"]),
                     .pci_address = fmt::format("{:04x}:{:02x}:{:02x}.{:x}", properties["domain"],
                                                location >> 8 & 0xff, location >> 3 & 0x1f, location & 7)});
  }
  std::sort(nodes.begin(), nodes.end(), [](const KfdNode& a, const KfdNode& b) { return a.node < b.node; });
  return nodes;
}

bool is_numbered(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.substr(0, prefix.size()) == prefix &&
         name[prefix.size()] >= '0' && name[prefix.size()] <= '9';
}

std::vector<DeviceFile> find_device_files(const fs::path& root) {
  std::vector<DeviceFile> files;
  const auto add = [&](const fs::path& path) {
    files.push_back(
        {"/" + path.lexically_relative(root).generic_string(), may_read_and_write(path), owner_group(path)});
  };
  for (const char* single : {"dev/kfd", "dev/dxg"})
    if (is_there(root / single)) add(root / single);
  for (const fs::path& path : entries(root / "dev/dri"))
    if (is_numbered(path.filename().string(), "renderD")) add(path);
  for (const fs::path& path : entries(root / "dev"))
    if (is_numbered(path.filename().string(), "nvidia")) add(path);
  return files;
}

std::string find_container(const fs::path& root) {
  if (is_there(root / "run/.containerenv")) return "podman";
  if (is_there(root / ".dockerenv")) return "docker";
  const std::string groups = read_text(root / "proc/1/cgroup");
  for (const auto& [sign, name] :
       {std::pair{"kubepods", "kubernetes"}, std::pair{"docker", "docker"}, std::pair{"libpod", "podman"},
        std::pair{"lxc", "lxc"}, std::pair{"containerd", "container"}})
    if (groups.find(sign) != std::string::npos) return name;
  const std::string environment = read_text(root / "run/systemd/container");
  return environment.empty() ? "" : environment;
}

std::string amdgpu_version(const fs::path& root) {
  if (!is_there(root / "sys/module/amdgpu")) return {};
  const std::string version = read_text(root / "sys/module/amdgpu/version");
  return version.empty() ? "in-tree" : version;
}

}  // namespace

fs::path system_root() {
  const char* root = std::getenv("SOTTO_SYSTEM_ROOT");
  return root != nullptr && root[0] != '\0' ? root : "/";
}

bool PciDisplay::can_compute() const noexcept {
  return vendor == kAmdVendor || vendor == kNvidiaVendor || vendor == kIntelVendor;
}

const DeviceFile* Hardware::device_file(std::string_view path) const noexcept {
  const auto found = std::find_if(device_files.begin(), device_files.end(),
                                  [&](const DeviceFile& file) { return file.path == path; });
  return found == device_files.end() ? nullptr : &*found;
}

const PciDisplay* Hardware::display_at(std::string_view pci_address) const noexcept {
  const auto found = std::find_if(displays.begin(), displays.end(),
                                  [&](const PciDisplay& display) { return display.address == pci_address; });
  return found == displays.end() ? nullptr : &*found;
}

Hardware find_hardware() {
  const fs::path root = system_root();
  return {.displays = find_displays(root),
          .kfd_nodes = find_kfd_nodes(root),
          .device_files = find_device_files(root),
          .container = find_container(root),
          .nvidia_module = read_text(root / "sys/module/nvidia/version"),
          .amdgpu_module = amdgpu_version(root)};
}

}  // namespace sotto
