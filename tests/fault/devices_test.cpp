// Machines of all kinds, seen through the program as their owners see them: the list, the warning, the exit
// code, and that the work is done on the CPU all the same.
#include <functional>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/child_process.h"
#include "fault/scenario.h"

namespace sotto::test {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kClip = SOTTO_SOURCE_DIR "/samples/pico_en_short.flac";
constexpr const char* kText = "He still kept his eyes fixed on him as he spoke.\n";

// In the fake user's home, so that no .env or sotto.toml of the real folder is read.
Outcome sotto(const FakeSystem& system, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), SOTTO_PROGRAM);
  return run_program({std::move(arguments), system.home().string(), "/dev/null", {}});
}

Json listed(const FakeSystem& system) {
  const Outcome outcome = sotto(system, {"devices", "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return Json::parse(outcome.out);
}

void configure(const FakeSystem& system, const std::string& text) {
  const auto folder = system.home() / ".config/sotto";
  std::filesystem::create_directories(folder);
  write_file(folder / "config.toml", text);
}

constexpr unsigned kNvidia = 0x10de, kAmd = 0x1002;
constexpr const char* kSlot = "0000:03:00.0";

const FakeDevice kGeforce{.name = "NVIDIA GeForce RTX 4090", .architecture = "sm_89", .memory_mib = 24576};
const FakeDevice kSmallGeforce{.name = "NVIDIA GeForce RTX 3060",
                               .architecture = "sm_86",
                               .memory_mib = 12288,
                               .uuid = "0a1b2c3d-0000-1111-2222-333344445555"};
const FakeDevice kOldGeforce{.name = "NVIDIA GeForce GTX 1080", .architecture = "sm_61"};
const FakeDevice kNavi{.name = "AMD Radeon RX 5700 XT", .architecture = "gfx1010"};

struct Scenario {
  const char* name;
  std::function<void(FakeSystem&)> build;
  std::string ask;         // what a user would ask for there
  std::string generation;  // of the first device
  std::string code;        // why it cannot be used
  std::string words;       // that the warning must hold
};

void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.name;
}

FakeDriver hip_with(const char* architecture) {
  return {.devices = {{.name = "AMD Radeon", .architecture = architecture}}};
}

void add_navi(FakeSystem& system) {
  system.add_pci(kSlot, kAmd, 0x731f, "amdgpu");
  system.add_kfd(1, 100100, 0x731f);
}

std::vector<Scenario> scenarios() {
  const auto cuda_behaving = [](const char* behaviour) {
    return [=](FakeSystem& system) {
      system.add_pci(kSlot, kNvidia, 0x2684, "nvidia");
      system.add_device_file("/dev/nvidia0");
      system.install_cuda({.behaviour = behaviour, .devices = {kGeforce}});
      configure(system, "probe_timeout = 1.0\n");
    };
  };
  const auto hip = [](const char* gfx) {
    return [=](FakeSystem& system) { system.install_hip(6, hip_with(gfx)); };
  };
  return {
      {"CudaBeforeTuring", [](FakeSystem& system) { system.install_cuda({.devices = {kOldGeforce}}); },
       "cuda", "Pascal", "no-kernels", "NVIDIA GeForce GTX 1080"},
      {"CudaTooOld",
       [](FakeSystem& system) {
         system.add_pci(kSlot, kNvidia, 0x2684, "nvidia");
         system.add_device_file("/dev/nvidia0");
         system.install_cuda({.version = 9000, .devices = {kGeforce}});
       },
       "cuda", "Ada", "driver-too-old", "too old"},
      {"NoRuntime", add_navi, "rocm", "RDNA 1", "no-driver", "no driver library"},
      {"RuntimeSeesNothing",
       [](FakeSystem& system) {
         add_navi(system);
         system.install_hip(7, {.version = 70000000});
       },
       "rocm", "RDNA 1", "runtime-sees-nothing", "libamdhip64.so.7"},
      {"NoPermission",
       [](FakeSystem& system) {
         add_navi(system);
         system.add_device_file("/dev/kfd", false);
         system.install_hip(6, {});
       },
       "rocm", "RDNA 1", "no-access", "usermod -aG render,video"},
      {"NoComgr",
       [](FakeSystem& system) {
         add_navi(system);
         system.install_hip_without_comgr(6);
       },
       "rocm", "RDNA 1", "comgr-missing", "amd_comgr"},
      {"ProbeHangs", cuda_behaving("hang"), "cuda", "Ada", "probe-hung", "did not answer in time"},
      {"ProbeSegfaults", cuda_behaving("segfault"), "cuda", "Ada", "probe-crashed", "crashed"},
      {"ProbeAborts", cuda_behaving("abort"), "cuda", "Ada", "probe-crashed", "crashed"},
      {"AllocationFails",
       [](FakeSystem& system) {
         FakeDevice full = kGeforce;
         full.allocation_fails = true;
         system.install_cuda({.devices = {full}});
       },
       "cuda", "Ada", "out-of-memory", "not enough free memory"},
      {"ContainerWithoutGpu",
       [](FakeSystem& system) {
         system.add_file("/.dockerenv");
         system.add_pci(kSlot, kNvidia, 0x2684, "nvidia");
       },
       "cuda", "Ada", "container-without-gpu", "--gpus all"},
      {"Gfx1100", hip("gfx1100"), "hip", "RDNA 3", "no-kernels",
       "holds no GPU kernels that run on AMD Radeon"},
      {"Gfx1201", hip("gfx1201"), "rocm:0", "RDNA 4", "no-kernels",
       "holds no GPU kernels that run on AMD Radeon"},
  };
}

class DeviceScenario : public testing::TestWithParam<Scenario> {};

TEST_P(DeviceScenario, is_listed_explained_and_worked_around) {
  const Scenario& scenario = GetParam();
  FakeSystem system;
  scenario.build(system);

  const Json devices = listed(system).at("devices");
  ASSERT_GE(devices.size(), 2u) << devices.dump(1);
  const Json& first = devices.at(0);
  EXPECT_EQ(first.at("generation"), scenario.generation) << first.dump(1);
  EXPECT_EQ(first.at("usable"), false);
  ASSERT_FALSE(first.at("obstacle").is_null());
  EXPECT_EQ(first.at("obstacle").at("code"), scenario.code) << first.dump(1);
  EXPECT_EQ(devices.back().at("id"), "cpu");
  EXPECT_EQ(devices.back().at("usable"), true);

  const std::string link = "docs/gpu.md#" + scenario.code;
  const Outcome fell_back = sotto(system, {"transcribe", "--device", scenario.ask, kClip});
  EXPECT_EQ(fell_back.exit_code, 0) << fell_back.err;
  EXPECT_EQ(fell_back.out, kText);
  EXPECT_THAT(fell_back.err,
              AllOf(HasSubstr("'" + scenario.ask + "' (asked for by --device) cannot be used"),
                    HasSubstr(scenario.words), HasSubstr(link), HasSubstr("Using CPU mode (")));

  const Outcome refused = sotto(system, {"transcribe", "--device", scenario.ask, "--no-fallback", kClip});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, AllOf(HasSubstr(scenario.words), HasSubstr(link), HasSubstr("--no-fallback")));
}

INSTANTIATE_TEST_SUITE_P(Machines, DeviceScenario, testing::ValuesIn(scenarios()),
                         [](const auto& param_info) { return std::string(param_info.param.name); });

TEST(Devices, a_machine_without_a_gpu_works_on_the_cpu_without_a_warning) {
  const FakeSystem system;
  const Json list = listed(system);
  ASSERT_EQ(list.at("devices").size(), 1u);
  EXPECT_EQ(list.at("findings").at(0).at("code"), "no-gpu");
  const Outcome outcome = sotto(system, {"transcribe", "-f", "json", kClip});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("No supported GPU found: using CPU mode ("), Not(HasSubstr("warning"))));
  const Json record = Json::parse(outcome.out).at("device_record");
  EXPECT_EQ(record.at("kind"), "cpu");
  EXPECT_EQ(record.at("compute_type"), "int8");
  EXPECT_EQ(record.at("why"), "no supported GPU was found");
}

TEST(Devices, a_gpu_that_auto_passes_over_is_named_with_the_reason) {
  FakeSystem system;
  system.install_hip(6, hip_with("gfx1201"));
  const Outcome outcome = sotto(system, {"transcribe", kClip});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("Detected AMD Radeon (RDNA 4), which cannot be used"),
                    HasSubstr("docs/gpu.md#no-kernels"), HasSubstr("No supported GPU found: using CPU")));
}

TEST(Devices, two_cuda_devices_are_told_apart_by_index_and_uuid) {
  FakeSystem system;
  system.install_cuda({.devices = {kGeforce, kSmallGeforce}});
  const Json devices = listed(system).at("devices");
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].at("memory_total"), uint64_t{24576} << 20);
  EXPECT_EQ(devices[1].at("memory_total"), uint64_t{12288} << 20);
  EXPECT_EQ(devices[1].at("uuid"), kSmallGeforce.uuid);
  for (const char* ask : {"cuda:1", "cuda:0a1b2c3d"}) {
    const Outcome outcome = sotto(system, {"transcribe", "--device", ask, "--no-fallback", kClip});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("RTX 3060"), Not(HasSubstr("RTX 4090"))));
  }
  const Outcome absent = sotto(system, {"transcribe", "--device", "cuda:5", "--no-fallback", kClip});
  EXPECT_THAT(absent.err, HasSubstr("there is: cuda:0, cuda:1"));
}

TEST(Devices, the_hip_runtime_that_sees_the_card_is_taken_whatever_hip_path_says) {
  for (const bool misled : {false, true}) {
    FakeSystem system;
    add_navi(system);
    system.install_hip(7, {.version = 70000000}, "/opt/rocm-7.0.0/lib");
    system.install_hip(6, {.devices = {kNavi}}, "/opt/rocm-6.0.0/lib");
    if (misled) system.set("HIP_PATH", (system.root() / "opt/rocm-7.0.0").string());
    const Json first = listed(system).at("devices").at(0);
    EXPECT_EQ(first.at("id"), "rocm:0");
    EXPECT_THAT(first.at("driver").get<std::string>(), HasSubstr("libamdhip64.so.6"));
    EXPECT_EQ(first.at("generation"), "RDNA 1");
  }
}

// These drivers answer the probe's questions and can do nothing else.
TEST(Devices, a_driver_that_cannot_compute_is_found_out_when_it_is_to_be_used) {
  for (const char* gfx : {"gfx1010", "gfx1030"}) {
    FakeSystem system;
    system.install_hip(6, hip_with(gfx));
    EXPECT_EQ(listed(system).at("devices").at(0).at("architecture"), gfx);
    const Outcome outcome = sotto(system, {"transcribe", "--device", "rocm", kClip});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, kText);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("'rocm' (asked for by --device) cannot be used"),
                                   HasSubstr("docs/gpu.md#"), HasSubstr("Using CPU mode (")));
  }
}

TEST(Devices, a_software_vulkan_is_listed_but_auto_does_not_speak_of_it) {
  FakeSystem system;
  system.install_vulkan({.devices = {{.name = "llvmpipe (LLVM 15.0.6, 256 bits)", .type = "cpu"}}});
  const Json list = listed(system);
  EXPECT_EQ(list.at("devices").at(0).at("software"), true);
  EXPECT_THAT(list.at("findings").dump(), AllOf(HasSubstr("software-only"), HasSubstr("no-gpu")));
  const Outcome automatic = sotto(system, {"transcribe", kClip});
  EXPECT_THAT(automatic.err, AllOf(HasSubstr("No supported GPU found"), Not(HasSubstr("llvmpipe"))));
  const Outcome asked = sotto(system, {"transcribe", "--device", "vulkan", kClip});
  EXPECT_EQ(asked.exit_code, 0);
  EXPECT_THAT(asked.err,
              AllOf(HasSubstr("llvmpipe"), HasSubstr("cannot be used")));  // the fake one computes nothing
}

TEST(Devices, names_that_make_no_sense_are_usage_errors) {
  const FakeSystem system;
  for (const char* name : {"toaster", "cuda:", "cuda:zebra", "auto:1"}) {
    const Outcome outcome = sotto(system, {"transcribe", "--device", name, kClip});
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_THAT(outcome.err, HasSubstr("cuda")) << name;
  }
}

TEST(Devices, the_device_is_taken_from_environment_dotenv_and_file_in_that_order) {
  FakeSystem system;
  const auto warning = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"transcribe", "--no-fallback", kClip});
    return sotto(system, more).err;
  };
  configure(system, "gpu_backend = \"vulkan\"\n");
  EXPECT_THAT(warning({}), AllOf(HasSubstr("'vulkan'"), HasSubstr("config.toml:1")));
  write_file(system.home() / ".env", std::string_view("USE_CUDA=yes\n"));
  EXPECT_THAT(warning({}), HasSubstr("'cuda' (asked for by USE_CUDA in .env)"));
  system.set("GPU_BACKEND", "hip");
  EXPECT_THAT(warning({}), HasSubstr("'hip' (asked for by GPU_BACKEND)"));
  system.set("SOTTO_DEVICE", "metal");
  EXPECT_THAT(warning({}), HasSubstr("'metal' (asked for by SOTTO_DEVICE)"));
  EXPECT_THAT(warning({"--device", "cuda"}), HasSubstr("'cuda' (asked for by --device)"));
  EXPECT_THAT(warning({"--device", "cpu"}), HasSubstr("Using CPU mode ("));
}

TEST(Devices, config_shows_each_value_and_where_it_came_from) {
  FakeSystem system;
  configure(system, "beam_size = 2\nbeem_size = 3\n");
  system.set("SOTTO_DEVICE", "cpu");
  const Outcome outcome = sotto(system, {"config"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("SOTTO_DEVICE"), HasSubstr("config.toml:1"), HasSubstr("default")));
  EXPECT_THAT(outcome.err, HasSubstr("'beem_size'"));
  configure(system, "beam_size = \n");
  EXPECT_EQ(sotto(system, {"config"}).exit_code, 2);
}

TEST(Devices, a_warm_list_asks_no_driver) {
  FakeSystem system;
  system.install_cuda({.devices = {kGeforce}});
  listed(system);
  const int loads = system.driver_loads();
  EXPECT_GT(loads, 0);
  listed(system);
  EXPECT_EQ(system.driver_loads(), loads);
  sotto(system, {"devices", "--refresh"});
  EXPECT_GT(system.driver_loads(), loads);
}

TEST(Doctor, walks_all_gates_of_the_gpu_and_of_the_cpu) {
  FakeSystem system;
  add_navi(system);
  const Outcome outcome = sotto(system, {"doctor", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json report = Json::parse(outcome.out);
  const auto statuses = [](const Json& device) {
    std::string text;
    for (const Json& gate : device.at("gates")) text += gate.at("status").get<std::string>().at(0);
    return text;
  };
  ASSERT_EQ(report.at("devices").size(), 2u);
  EXPECT_EQ(statuses(report.at("devices").at(0)), "pfsssssss") << outcome.out;
  EXPECT_EQ(statuses(report.at("devices").at(1)), "psssppppp") << outcome.out;
  const Outcome people = sotto(system, {"doctor"});
  EXPECT_THAT(people.out, AllOf(HasSubstr("failed   Driver present"), HasSubstr("next: Install its driver"),
                                HasSubstr("docs/gpu.md#no-driver"), HasSubstr("passed   Transcription")));
}

}  // namespace
}  // namespace sotto::test
