#include "fault/scenario.h"

#include <cstdlib>
#include <sstream>

#include <fmt/format.h>

namespace sotto::test {
namespace {
namespace fs = std::filesystem;

// What could make a test see the real machine, or be told where to look by it.
constexpr const char* kForeignVariables[] = {
    "ROCM_PATH",
    "HIP_PATH",
    "LD_LIBRARY_PATH",
    "SOTTO_DRIVER_PATH",
    "SOTTO_DEVICE",
    "GPU_BACKEND",
    "USE_CUDA",
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "VK_ICD_FILENAMES",
    "VK_DRIVER_FILES",
};

std::string script_text(const FakeDriver& driver) {
  std::ostringstream text;
  text << "version " << driver.version << "\ninit_error " << driver.init_error << "\n";
  if (!driver.behaviour.empty()) text << "behaviour " << driver.behaviour << "\n";
  for (const FakeDevice& device : driver.devices)
    text << "device\nname " << device.name << "\narchitecture " << device.architecture << "\nuuid "
         << device.uuid << "\ntype " << device.type << "\nmemory_mib " << device.memory_mib << "\nfree_mib "
         << device.free_mib << "\nallocation_fails " << device.allocation_fails << "\nfloat16 "
         << device.float16 << "\nbuffers " << device.buffers << "\n";
  return text.str();
}

fs::path below(const fs::path& root, std::string_view absolute) {
  return root / fs::path(absolute).relative_path();
}

}  // namespace

fs::path fake_library(std::string_view name) {
  return fs::path(SOTTO_FAKE_FOLDER) / fmt::format("{}.so", name);
}

ScopedVariable::ScopedVariable(std::string name, std::optional<std::string> value) : name_(std::move(name)) {
  if (const char* current = std::getenv(name_.c_str())) previous_ = current;
  if (value)
    setenv(name_.c_str(), value->c_str(), 1);
  else
    unsetenv(name_.c_str());
}

ScopedVariable::~ScopedVariable() {
  if (previous_)
    setenv(name_.c_str(), previous_->c_str(), 1);
  else
    unsetenv(name_.c_str());
}

FakeSystem::FakeSystem() : root_(folder_ / "root") {
  for (const fs::path& folder : {root_ / "sys/bus/pci/devices", root_ / "dev", cache(), home()})
    fs::create_directories(folder);
  set("SOTTO_SYSTEM_ROOT", root_.string());
  set("SOTTO_PROBE", SOTTO_PROBE_PROGRAM);
  set("HOME", home().string());
  set("XDG_CACHE_HOME", cache().string());
  set("XDG_CONFIG_HOME", (home() / ".config").string());
  set("XDG_DATA_HOME", (home() / ".local/share").string());
  for (const char* name : kForeignVariables) set(name, std::nullopt);
}

// The latest variable first, so that one that was set twice gets its first value back.
FakeSystem::~FakeSystem() {
  while (!variables_.empty()) variables_.pop_back();
}

void FakeSystem::set(std::string name, std::optional<std::string> value) {
  variables_.push_back(std::make_unique<ScopedVariable>(std::move(name), std::move(value)));
}

void FakeSystem::add_file(std::string_view path, std::string_view text) {
  const fs::path file = below(root_, path);
  fs::create_directories(file.parent_path());
  write_file(file, text);
}

void FakeSystem::add_pci(std::string_view address, unsigned vendor, unsigned device,
                         std::string_view kernel_driver) {
  const std::string folder = fmt::format("/sys/bus/pci/devices/{}/", address);
  add_file(folder + "class", "0x030000\n");
  add_file(folder + "vendor", fmt::format("0x{:04x}\n", vendor));
  add_file(folder + "device", fmt::format("0x{:04x}\n", device));
  if (kernel_driver.empty()) return;
  fs::create_directory_symlink(fmt::format("../../../bus/pci/drivers/{}", kernel_driver),
                               below(root_, folder + "driver"));
  add_file(fmt::format("/sys/module/{}/refcnt", kernel_driver), "1\n");
}

void FakeSystem::add_kfd(int node, unsigned gfx_target_version, unsigned device) {
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";
  add_file(nodes + "0/properties", "cpu_cores_count 8\nsimd_count 0\ngfx_target_version 0\n");
  add_file(
      fmt::format("{}{}/properties", nodes, node),
      fmt::format("cpu_cores_count 0\nsimd_count 80\ngfx_target_version {}\nvendor_id 4098\ndevice_id {}\n"
                  "location_id {}\ndomain 0\n",
                  gfx_target_version, device, (node + 2) << 8));
  if (!fs::exists(fs::symlink_status(root_ / "dev/kfd"))) add_device_file("/dev/kfd");
}

// What may not be opened is a link to nothing: root, as whom tests may run, may open every file.
void FakeSystem::add_device_file(std::string_view path, bool accessible) {
  const fs::path file = below(root_, path);
  fs::create_directories(file.parent_path());
  fs::remove(file);
  if (accessible)
    write_file(file, "");
  else
    fs::create_symlink("may-not-be-opened", file);
}

void FakeSystem::install(std::string_view library, std::string_view file_name, const FakeDriver& driver,
                         std::string_view folder) {
  const fs::path target = below(root_, folder) / file_name;
  fs::create_directories(target.parent_path());
  fs::copy_file(fake_library(driver.missing_functions ? "fake_old" : library), target,
                fs::copy_options::overwrite_existing);
  write_file(target.string() + ".script", script_text(driver));
}

void FakeSystem::install_cuda(const FakeDriver& driver, std::string_view folder) {
  install("fake_cuda", "libcuda.so.1", driver, folder);
}

void FakeSystem::install_hip(int major, const FakeDriver& driver, std::string_view folder) {
  install("fake_hip", fmt::format("libamdhip64.so.{}", major), driver, folder);
}

void FakeSystem::install_vulkan(const FakeDriver& driver, std::string_view folder) {
  install("fake_vulkan", "libvulkan.so.1", driver, folder);
}

void FakeSystem::install_hip_without_comgr(int major, std::string_view folder) {
  install("fake_hip_without_comgr", fmt::format("libamdhip64.so.{}", major), {}, folder);
}

int FakeSystem::driver_loads() const {
  uintmax_t loads = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root_))
    if (entry.path().extension() == ".loads") loads += entry.file_size();
  return static_cast<int>(loads);
}

}  // namespace sotto::test
